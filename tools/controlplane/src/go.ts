import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ControlPlaneError } from './errors.ts';

const run = promisify(execFile);

/**
 * @param remedy Beside the installation of Go.
 * @throws ControlPlaneError GoMissing, with the remedies.
 */
export async function requireGo(environment: NodeJS.ProcessEnv, remedy: string): Promise<void> {
  const { stdout } = await run('go', ['env', 'GOVERSION'], { env: { ...environment, GOTOOLCHAIN: 'local' } }).catch(
    (error: unknown) => {
      throw goMissing('no usable go command was found', remedy, error);
    },
  );
  const [major = 0, minor = 0] = stdout.trim().replace(/^go/, '').split('.').map(Number);
  if (major > 1 || (major === 1 && minor >= 26)) return;
  throw goMissing(`found ${stdout.trim()}`, remedy);
}

const goMissing = (found: string, remedy: string, cause?: unknown): ControlPlaneError =>
  new ControlPlaneError(
    'GoMissing',
    `expected Go 1.26 or newer for the build, ${found}: install it (https://go.dev/dl), or ${remedy}`,
    cause,
  );
