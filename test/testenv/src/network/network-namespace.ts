import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const randomSuffix = (): string => randomBytes(3).toString('hex');

/** The reason why network namespaces with these programs are not available; undefined if they are. */
export async function namespaceBlocker(
  programs: Readonly<Record<string, readonly string[]>>,
  packages: string,
): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'only root may create network namespaces';
  for (const [name, args] of Object.entries({ ip: ['-V'], ...programs })) {
    const missing = await run(name, args).then(
      () => false,
      (error: { code?: unknown }) => error.code === 'ENOENT',
    );
    if (missing) return `${name} is not installed (on Debian: ${packages})`;
  }
  try {
    await using _probe = await NetworkNamespace.open('metal-try');
    return undefined;
  } catch (error) {
    return `network namespaces cannot be created here: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** A network namespace of its own; disposing deletes it with its contents. */
export class NetworkNamespace implements AsyncDisposable {
  readonly name: string;

  private constructor(name: string) {
    this.name = name;
  }

  static async open(prefix: string, suffix = randomSuffix()): Promise<NetworkNamespace> {
    const name = `${prefix}-${suffix}`;
    await run('ip', ['netns', 'add', name]);
    return new NetworkNamespace(name);
  }

  /** Command prefix to run a command in this namespace. */
  get commandPrefix(): readonly string[] {
    return ['ip', 'netns', 'exec', this.name];
  }

  /** Runs `ip` with these arguments in this namespace. */
  async ip(args: string): Promise<void> {
    await run('ip', ['-n', this.name, ...args.split(' ')]);
  }

  async processes(): Promise<number[]> {
    const { stdout } = await run('ip', ['netns', 'pids', this.name]);
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map(Number);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run('ip', ['netns', 'delete', this.name]).catch(() => undefined);
  }
}

/** A directory that dnsmasq, which does not read as root, can access. */
export async function directoryForDnsmasq(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'metal-dhcp-'));
  await chmod(path, 0o755);
  const { mode } = await stat(tmpdir());
  if ((mode & 0o001) === 0) await chmod(tmpdir(), (mode & 0o7777) | 0o001);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** A process looks up dnsmasq in PATH; until disposed it finds one that runs in the namespace. */
export async function installDnsmasqWrapper(
  { commandPrefix }: NetworkNamespace,
  directory: string,
): Promise<Disposable> {
  const programs = await mkdtemp(join(directory, 'bin-'));
  const text = `#!/bin/sh\nexec ${commandPrefix.join(' ')} /usr/sbin/dnsmasq "$@"\n`;
  await writeFile(join(programs, 'dnsmasq'), text, { mode: 0o755 });
  const before = process.env.PATH;
  process.env.PATH = `${programs}:${before}`;
  return { [Symbol.dispose]: () => void (process.env.PATH = before) };
}
