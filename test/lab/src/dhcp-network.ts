import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { DhcpAnswer, DhcpWish } from './dhcp-client.ts';

const run = promisify(execFile);
const client = fileURLToPath(new URL('dhcp-client.ts', import.meta.url));

/** What the system of a machine sees of its lease: the variables that busybox hands to its script. */
export type SystemLease = Readonly<Record<string, string>>;

/** Why there can be no network here; undefined if there can be one. */
export async function obstacleToDhcpNetworks(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'only root may create network namespaces';
  for (const program of [
    ['ip', '-V'],
    ['dnsmasq', '--version'],
    ['busybox', 'udhcpc', '--help'],
  ] as const) {
    const [name, ...args] = program;
    const missing = await run(name, args).then(
      () => false,
      (error: { code?: unknown }) => error.code === 'ENOENT',
    );
    if (missing) return `${name} is not installed (on Debian: iproute2, dnsmasq-base, busybox-static)`;
  }
  const probe = `metal-try-${randomBytes(3).toString('hex')}`;
  try {
    await run('ip', ['netns', 'add', probe]);
    await run('ip', ['netns', 'delete', probe]);
    return undefined;
  } catch (error) {
    return `network namespaces cannot be created here: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * Two network namespaces with a cable between: one for dnsmasq (192.0.2.1), one for machines. Nothing leads outside.
 */
export class DhcpNetwork implements AsyncDisposable {
  readonly directory: string;
  /** To be put before `dnsmasq`. */
  readonly serverCommand: readonly string[];
  readonly #server: string;
  readonly #clients: string;

  private constructor(directory: string, suffix: string) {
    this.directory = directory;
    this.#server = `metal-dhcp-${suffix}`;
    this.#clients = `metal-nics-${suffix}`;
    this.serverCommand = ['ip', 'netns', 'exec', this.#server, 'dnsmasq'];
  }

  static async open(): Promise<DhcpNetwork> {
    const directory = await mkdtemp(join(tmpdir(), 'metal-dhcp-'));
    // dnsmasq reads it as somebody who is not root, and has to get there.
    await chmod(directory, 0o755);
    const { mode } = await stat(tmpdir());
    if ((mode & 0o001) === 0) await chmod(tmpdir(), (mode & 0o7777) | 0o001);
    const network = new DhcpNetwork(directory, randomBytes(3).toString('hex'));
    try {
      await network.#lay();
      return network;
    } catch (error) {
      await network[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** A directory whose `dnsmasq` runs in this network, for processes that look it up in PATH. */
  async programDirectory(): Promise<string> {
    const directory = await mkdtemp(join(this.directory, 'bin-'));
    const text = `#!/bin/sh\nexec ip netns exec ${this.#server} /usr/sbin/dnsmasq "$@"\n`;
    await writeFile(join(directory, 'dnsmasq'), text, { mode: 0o755 });
    return directory;
  }

  /** Machines ask in the given order; undefined for those that are not answered before the last one is. */
  async ask(...wishes: readonly DhcpWish[]): Promise<(DhcpAnswer | undefined)[]> {
    const { stdout } = await this.#asClient(process.execPath, client, JSON.stringify(wishes));
    // Written by the client of the lab.
    const answers = JSON.parse(stdout) as (DhcpAnswer | null)[];
    return answers.map((answer) => answer ?? undefined);
  }

  /** A Linux system with busybox asks for an address and for option 67. */
  async systemAsks(mac: string): Promise<SystemLease> {
    const script = join(this.directory, 'udhcpc-script');
    await writeFile(script, '#!/bin/sh\n[ "$1" = bound ] && env\nexit 0\n', { mode: 0o755 });
    await this.#asClient('ip', 'link', 'set', 'nic', 'address', mac);
    const flags = ['-i', 'nic', '-f', '-q', '-n', '-t', '6', '-T', '2', '-O', 'bootfile', '-s', script];
    const { stdout } = await this.#asClient('busybox', 'udhcpc', ...flags);
    return Object.fromEntries(
      stdout.split('\n').flatMap((line) => {
        const at = line.indexOf('=');
        return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
      }),
    );
  }

  /** Ends what listens for DHCP here, as a crash would. */
  async killServer(): Promise<void> {
    for (const id of await this.#processes()) process.kill(id, 'SIGKILL');
  }

  /** How many dnsmasq run here; each has a child for its script. */
  async serverPrograms(): Promise<number> {
    const ids = await this.#processes();
    const parents = await Promise.all(ids.map((id) => parentOf(id)));
    return parents.filter((parent) => !ids.includes(parent)).length;
  }

  /** A file that dnsmasq serves by TFTP. */
  async loadByTftp(name: string): Promise<string> {
    const file = join(this.directory, 'loaded');
    await this.#asClient('busybox', 'tftp', '-g', '-r', name, '-l', file, '192.0.2.1');
    return readFile(file, 'utf8');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of [this.#clients, this.#server]) await run('ip', ['netns', 'delete', name]).catch(() => undefined);
    await rm(this.directory, { recursive: true, force: true });
  }

  async #processes(): Promise<number[]> {
    const { stdout } = await run('ip', ['netns', 'pids', this.#server]);
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map(Number);
  }

  async #lay(): Promise<void> {
    for (const name of [this.#server, this.#clients]) await run('ip', ['netns', 'add', name]);
    const cable = `link add dhcp netns ${this.#server} type veth peer name nic netns ${this.#clients}`;
    await run('ip', cable.split(' '));
    await run('ip', ['-n', this.#server, 'address', 'add', '192.0.2.1/24', 'dev', 'dhcp']);
    await run('ip', ['-n', this.#server, 'link', 'set', 'dhcp', 'up']);
    await run('ip', ['-n', this.#clients, 'address', 'add', '192.0.2.2/24', 'dev', 'nic']);
    await run('ip', ['-n', this.#clients, 'link', 'set', 'nic', 'up']);
    await run('ip', ['-n', this.#clients, 'route', 'add', 'default', 'dev', 'nic']);
  }

  #asClient(...command: readonly string[]): Promise<{ stdout: string; stderr: string }> {
    return run('ip', ['netns', 'exec', this.#clients, ...command], {
      timeout: 40_000,
      // What a script prints of its environment is then what busybox said.
      env: { PATH: process.env.PATH },
    });
  }
}

async function parentOf(id: number): Promise<number> {
  const status = await readFile(`/proc/${id}/status`, 'utf8');
  return Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1]);
}
