import { createHash } from 'node:crypto';
import { SimulatedBmc } from './bmc.ts';
import { createFleetAuthority, type FleetAuthority } from './certificates.ts';
import { type Clock, wallClock } from './clock.ts';
import { macAddress, makeHardware } from './hardware.ts';
import { Machine, type Power } from './machine.ts';
import { profiles, type Vendor, vendors } from './profiles.ts';

export interface FleetOptions {
  readonly count: number;
  /** Vendors in turn; all by default. */
  readonly vendors: readonly Vendor[];
  readonly https: boolean;
  readonly latencyMs: number;
  readonly powerOnMs: number;
  readonly powerOffMs: number;
  readonly bootMs: number;
  /** Where machines that boot from the network go, in place of DHCP. */
  readonly bootUrl: string | undefined;
  /** The same seed makes the same machines. */
  readonly seed: string;
  readonly clock: Clock;
  readonly credentials: { readonly username: string; readonly password: string };
  /** The same for every BMC; 0 takes one that is free. */
  readonly port: number;
  /** First two octets of the BMCs' loopback addresses. */
  readonly network: string;
}

const defaults: FleetOptions = {
  count: 0,
  vendors,
  https: false,
  latencyMs: 0,
  powerOnMs: 500,
  powerOffMs: 500,
  bootMs: 2_000,
  bootUrl: undefined,
  seed: 'fleet',
  clock: wallClock,
  credentials: { username: 'admin', password: 'fleet-password' },
  port: 0,
  network: '127.20',
};

/** One BMC with the machine behind it. */
export class Node {
  readonly name: string;
  readonly vendor: Vendor;
  readonly bmc: SimulatedBmc;
  readonly machine: Machine;

  constructor(name: string, vendor: Vendor, bmc: SimulatedBmc) {
    this.name = name;
    this.vendor = vendor;
    this.bmc = bmc;
    this.machine = bmc.machine;
  }

  get uuid(): string {
    return this.machine.hardware.uuid;
  }

  get power(): Power {
    return this.machine.power;
  }

  get powerLog(): readonly string[] {
    return this.machine.powerLog;
  }

  get bootLog(): readonly string[] {
    return this.machine.bootLog;
  }

  get running(): Machine['running'] {
    return this.machine.running;
  }
}

/** Simulated servers on loopback addresses, one socket each, all on one port. */
export class Fleet implements AsyncDisposable {
  readonly nodes: Node[] = [];
  /** Requests by method and path, over all BMCs; members of collections are counted under their collection's shape. */
  readonly requestCounts = new Map<string, number>();
  readonly #options: FleetOptions;
  readonly #authority: FleetAuthority | undefined;
  #port: number;
  #bootUrl: string | undefined;

  constructor(options: FleetOptions, authority: FleetAuthority | undefined) {
    this.#options = options;
    this.#authority = authority;
    this.#port = options.port;
    this.#bootUrl = options.bootUrl;
  }

  get port(): number {
    return this.#port;
  }

  get caPem(): string | undefined {
    return this.#authority?.caPem;
  }

  get requestCount(): number {
    return [...this.requestCounts.values()].reduce((sum, count) => sum + count, 0);
  }

  setBootUrl(url: string): void {
    this.#bootUrl = url;
  }

  /** Adds a machine, listening at once. */
  async add({
    vendor = 'generic',
    uuid,
    password,
  }: {
    vendor?: Vendor;
    uuid?: string;
    password?: string;
  } = {}): Promise<Node> {
    const index = this.nodes.length;
    const { clock, credentials, latencyMs, seed, network } = this.#options;
    const profile = profiles[vendor];
    const address = `${network}.${Math.floor(index / 250)}.${(index % 250) + 1}`;
    const made = makeHardware(seed, index, profile);
    const machine = new Machine({
      hardware: uuid === undefined ? made : { ...made, uuid },
      profile,
      ipAddress: `10.20.${Math.floor(index / 250)}.${(index % 250) + 1}`,
      clock,
      times: () => this.#options,
      bootUrl: () => this.#bootUrl,
    });
    const bmc = new SimulatedBmc({
      profile,
      machine,
      address,
      macAddress: macAddress(profile.macPrefix, index, 0),
      managerUuid: uuidOf(`${seed}/${index}/manager`),
      username: credentials.username,
      password: password ?? credentials.password,
      clock,
      latencyMs,
      tls: await this.#authority?.certificateFor(address),
      onRequest: ({ method, path }) => this.#count(`${method} ${shapeOf(path, profile.systemId, profile.managerId)}`),
    });
    this.#port = await bmc.listen(this.#port);
    const node = new Node(`${vendor}-${String(index).padStart(4, '0')}`, vendor, bmc);
    this.nodes.push(node);
    return node;
  }

  /** MAC prefix database for this fleet, as YAML. */
  macPrefixFile(): string {
    const { username, password } = this.#options.credentials;
    const scheme = this.#authority === undefined ? 'http' : 'https';
    const entries = Object.values(profiles).map(({ manufacturer, macPrefix }) => ({
      macPrefix,
      manufacturer,
      protocol: 'Redfish',
      protocolScheme: scheme,
      port: this.#port,
      type: 'bmc',
      defaultCredentials: [{ username, password }],
      console: { type: 'SSH', port: 22 },
    }));
    // JSON is YAML.
    return `${JSON.stringify({ macPrefixes: entries }, undefined, 2)}\n`;
  }

  /** What the management network would tell of the BMCs. */
  endpoints(): { name: string; macAddress: string; ip: string }[] {
    return this.nodes.map(({ name, bmc }) => ({ name, macAddress: bmc.macAddress, ip: bmc.address }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { machine } of this.nodes) machine.dispose();
    await Promise.all(this.nodes.map(({ bmc }) => bmc.close()));
  }

  #count(route: string): void {
    this.requestCounts.set(route, (this.requestCounts.get(route) ?? 0) + 1);
  }
}

/** Starts a fleet; all of it ends when it is disposed. */
export async function startFleet(options: Partial<FleetOptions> = {}): Promise<Fleet> {
  const settled = { ...defaults, ...options };
  const fleet = new Fleet(
    settled.port === 0 ? { ...settled, port: await claimPort(settled.network) } : settled,
    settled.https ? await createFleetAuthority() : undefined,
  );
  for (let index = 0; index < settled.count; index += 1)
    await fleet.add({ vendor: settled.vendors[index % settled.vendors.length] ?? 'generic' });
  return fleet;
}

/** The BMC prefix database names one port for all, so it is chosen before the first BMC listens. */
async function claimPort(network: string): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, `${network}.0.1`, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const shapeOf = (path: string, systemId: string, managerId: string): string =>
  path
    .replace(`/Systems/${systemId}`, '/Systems/{id}')
    .replace(`/Managers/${managerId}`, '/Managers/{id}')
    .replace(/\/Sessions\/.+/, '/Sessions/{id}')
    .replace(/\/(Processors|Memory|EthernetInterfaces|NVMe)\/[^/]+$/, '/$1/{id}');
