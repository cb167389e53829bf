import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const answerWithinMs = 5_000;

/** The kubectl in PATH if it supports this API server: Kubernetes promises one minor version of difference. */
export async function kubectlInPath(
  environment: NodeJS.ProcessEnv,
  serverVersion: string,
): Promise<string | undefined> {
  const path = await firstInPath('kubectl', environment);
  if (path === undefined) return undefined;
  const version = await clientVersion(path, environment);
  return version !== undefined && isWithinOneMinor(version, serverVersion) ? path : undefined;
}

async function firstInPath(name: string, environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const directory of (environment.PATH ?? '').split(delimiter).filter((entry) => entry !== '')) {
    const path = join(directory, name);
    const isProgram = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isProgram) return path;
  }
  return undefined;
}

async function clientVersion(path: string, environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    const options = { env: environment, timeout: answerWithinMs };
    const { stdout } = await run(path, ['version', '--client', '-o', 'json'], options);
    return /"gitVersion":\s*"(v[^"]+)"/.exec(stdout)?.[1];
  } catch {
    // A broken program, or a wrapper that wants a terminal, is no kubectl for us.
    return undefined;
  }
}

function isWithinOneMinor(one: string, other: string): boolean {
  const [major, minor] = numbersOf(one);
  const [otherMajor, otherMinor] = numbersOf(other);
  return major === otherMajor && Math.abs(minor - otherMinor) <= 1;
}

function numbersOf(version: string): [number, number] {
  const [major = Number.NaN, minor = Number.NaN] = version.replace(/^v/, '').split('.').map(Number);
  return [major, minor];
}
