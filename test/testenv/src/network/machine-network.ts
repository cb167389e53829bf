import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { promisify } from 'node:util';
import type { Tap } from '@metal/simulator/qemu/parts.ts';
import {
  directoryForDnsmasq,
  installDnsmasqWrapper,
  NetworkNamespace,
  namespaceBlocker,
  randomSuffix,
} from './network-namespace.ts';

const run = promisify(execFile);

/** The reason why there can be no network of machines here; undefined if there can be one. */
export const machineNetworkBlocker = (): Promise<string | undefined> =>
  namespaceBlocker({ dnsmasq: ['--version'] }, 'iproute2, dnsmasq-base');

/**
 * A switch for machines in QEMU, in a network namespace with dnsmasq and connected to this host. It has no other route
 * in or out.
 *
 *     this host ──cable── switch ──ports── machines
 *     .1                  .2, dnsmasq      .100 to .199
 */
export class MachineNetwork implements AsyncDisposable {
  /** Address of this host for machines. */
  readonly host: string;
  /** Flags of an operator that answers DHCP here. */
  readonly dhcpFlags: readonly string[];
  readonly #namespace: NetworkNamespace;
  readonly #stack: AsyncDisposableStack;
  #ports = 0;

  private constructor(network: string, directory: string, namespace: NetworkNamespace, stack: AsyncDisposableStack) {
    this.host = `${network}.1`;
    this.dhcpFlags = [
      '--components=controllers,registry,boot,dhcp',
      '--dhcp=dnsmasq',
      `--dhcp-directory=${directory}/dhcp`,
      '--dhcp-interfaces=switch',
      `--dhcp-ranges=${network}.100-${network}.199/24`,
    ];
    this.#namespace = namespace;
    this.#stack = stack;
  }

  static async open(): Promise<MachineNetwork> {
    await using stack = new AsyncDisposableStack();
    // Of the networks reserved for benchmarks (RFC 2544): simultaneous runs do not collide.
    const network = `198.${randomInt(18, 20)}.${randomInt(256)}`;
    const directory = stack.use(await directoryForDnsmasq());
    const suffix = randomSuffix();
    const namespace = stack.use(await NetworkNamespace.open('metal-rack', suffix));
    stack.use(await installDnsmasqWrapper(namespace, directory.path));
    const cable = `metal-${suffix}`;
    await namespace.ip('link add switch type bridge stp_state 0 forward_delay 0');
    await run('ip', `link add ${cable} type veth peer name cable netns ${namespace.name}`.split(' '));
    await run('ip', `address add ${network}.1/24 dev ${cable}`.split(' '));
    await run('ip', `link set ${cable} up`.split(' '));
    await namespace.ip('link set cable master switch up');
    await namespace.ip(`address add ${network}.2/24 dev switch`);
    await namespace.ip('link set switch up');
    return new MachineNetwork(network, directory.path, namespace, stack.move());
  }

  /** A free port of the switch. */
  async port(): Promise<Tap> {
    const name = `port${this.#ports}`;
    this.#ports += 1;
    await this.#namespace.ip(`tuntap add dev ${name} mode tap`);
    await this.#namespace.ip(`link set ${name} master switch up`);
    return { namespace: this.#namespace.name, name };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
