import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { DhcpReply, DhcpClientSpec } from './dhcp-client.ts';
import { directoryForDnsmasq, installDnsmasqWrapper, NetworkNamespace, namespaceBlocker } from './network-namespace.ts';

const run = promisify(execFile);
const client = fileURLToPath(new URL('dhcp-client.ts', import.meta.url));

/** The lease as a machine's system sees it: the variables that busybox passes to its script. */
export type SystemLease = Readonly<Record<string, string>>;

/** The reason why there can be no network here; undefined if there can be one. */
export const dhcpNetworkBlocker = (): Promise<string | undefined> =>
  namespaceBlocker({ dnsmasq: ['--version'], busybox: ['udhcpc', '--help'] }, 'iproute2, dnsmasq-base, busybox-static');

/** Two connected network namespaces: one for dnsmasq (192.0.2.1), one for machines. Neither has a route outside. */
export class DhcpNetwork implements AsyncDisposable {
  readonly directory: string;
  /** Command prefix for `dnsmasq`. */
  readonly serverCommand: readonly string[];
  readonly #server: NetworkNamespace;
  readonly #clients: NetworkNamespace;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    directory: string,
    [server, clients]: readonly [NetworkNamespace, NetworkNamespace],
    stack: AsyncDisposableStack,
  ) {
    this.directory = directory;
    this.#server = server;
    this.#clients = clients;
    this.#stack = stack;
    this.serverCommand = [...server.commandPrefix, 'dnsmasq'];
  }

  static async open(): Promise<DhcpNetwork> {
    await using stack = new AsyncDisposableStack();
    const directory = stack.use(await directoryForDnsmasq());
    const server = stack.use(await NetworkNamespace.open('metal-dhcp'));
    const clients = stack.use(await NetworkNamespace.open('metal-nics'));
    await server.ip(`link add dhcp type veth peer name nic netns ${clients.name}`);
    await server.ip('address add 192.0.2.1/24 dev dhcp');
    await server.ip('link set dhcp up');
    await clients.ip('address add 192.0.2.2/24 dev nic');
    await clients.ip('link set nic up');
    await clients.ip('route add default dev nic');
    return new DhcpNetwork(directory.path, [server, clients], stack.move());
  }

  /** Until disposed, processes that look up dnsmasq in PATH find one that runs here. */
  installDnsmasqWrapper(): Promise<Disposable> {
    return installDnsmasqWrapper(this.#server, this.directory);
  }

  /**
   * Sends the requests of machines in the given order; undefined for those without an answer before the last one has
   * its answer.
   */
  async request(...specs: readonly DhcpClientSpec[]): Promise<(DhcpReply | undefined)[]> {
    const { stdout } = await this.#asClient(process.execPath, client, JSON.stringify(specs));
    // Written by `dhcp-client.ts`.
    const replies = JSON.parse(stdout) as (DhcpReply | null)[];
    return replies.map((reply) => reply ?? undefined);
  }

  /** A Linux system with busybox requests an address and option 67. */
  async requestSystemLease(mac: string): Promise<SystemLease> {
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

  /** Kills every DHCP server in this namespace, like a crash. */
  async killServer(): Promise<void> {
    for (const id of await this.#server.processes()) process.kill(id, 'SIGKILL');
  }

  /** Number of dnsmasq processes here; each has a child for its script. */
  async countServers(): Promise<number> {
    const ids = await this.#server.processes();
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
    await this.#stack.disposeAsync();
  }

  #asClient(...command: readonly string[]): Promise<{ stdout: string; stderr: string }> {
    const [program = '', ...args] = [...this.#clients.commandPrefix, ...command];
    return run(program, args, {
      timeout: 40_000,
      // The script prints its environment, which busybox has set.
      env: { PATH: process.env.PATH },
    });
  }
}

async function parentOf(id: number): Promise<number> {
  const status = await readFile(`/proc/${id}/status`, 'utf8');
  return Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1]);
}
