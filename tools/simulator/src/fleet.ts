import { createServer } from 'node:net';
import { SimulatedBmc } from './bmc.ts';
import { createFleetAuthority, type FleetAuthority } from './certificates.ts';
import { type Clock, wallClock } from './clock.ts';
import { FleetError, listenError } from './errors.ts';
import { fleetCredentials } from './fleet-credentials.ts';
import { digestOf, macAddress, makeHardware, uuidFrom } from './hardware.ts';
import { macPrefixYaml } from './mac-prefixes.ts';
import type { Machine } from './machine.ts';
import { Node } from './node.ts';
import { profiles, defaultVendors, type Vendor, type VendorProfile } from './profiles.ts';
import { makeQemuParts, type QemuOptions } from './qemu/parts.ts';
import { QemuMachine } from './qemu/qemu-machine.ts';
import { openRack, type QemuRack } from './qemu/rack.ts';
import { SimulatedMachine } from './simulated-machine.ts';

export { Node } from './node.ts';
export type { Vendor } from './profiles.ts';

export interface FleetOptions {
  readonly count: number;
  /** Vendors in rotation; a default list otherwise. */
  readonly vendors: readonly Vendor[];
  /** HTTPS with certificates of the fleet's own CA. */
  readonly https: boolean;
  /** Before each response. */
  readonly latencyMs: number;
  readonly powerOnMs: number;
  readonly powerOffMs: number;
  /** From power on until firmware starts to boot. */
  readonly bootMs: number;
  /** From a boot without a bootable device until firmware tries again; undefined: it stops. */
  readonly bootRetryMs: number | undefined;
  /** Duration of an erasure of a machine's disks. */
  readonly eraseMs: number;
  /** Duration of a restart of a BMC itself. */
  readonly bmcRestartMs: number;
  /** Duration of the installation of a firmware. */
  readonly flashMs: number;
  /** Replaces DHCP for network boots: the script is at `{bootUrl}/ipxe/{uuid}`. */
  readonly bootUrl: string | undefined;
  /** If set, every network boot of a simulated machine runs a probe in its firmware, which reports there without a token. */
  readonly probeRegistryUrl: string | undefined;
  /** The same seed gives the same machines. */
  readonly seed: string | number;
  /** The clock of every duration. */
  readonly clock: Clock;
  readonly credentials: { readonly username: string; readonly password: string };
  /** The same for every BMC; 0 takes a free one, so that fleets do not collide. */
  readonly port: number;
  /** First two octets of the BMCs' loopback addresses. */
  readonly network: string;
  /** BMCs also have an SSH shell, all on one port. */
  readonly shells: boolean;
  /** Used by the machines; another one may trust a private CA. */
  readonly fetch: typeof globalThis.fetch;
}

const defaults: FleetOptions = {
  count: 0,
  vendors: defaultVendors,
  https: false,
  latencyMs: 0,
  powerOnMs: 500,
  powerOffMs: 500,
  bootMs: 2_000,
  bootRetryMs: undefined,
  eraseMs: 2_000,
  bmcRestartMs: 2_000,
  flashMs: 2_000,
  bootUrl: undefined,
  probeRegistryUrl: undefined,
  seed: 'fleet',
  clock: wallClock,
  credentials: fleetCredentials,
  port: 0,
  network: '127.20',
  shells: false,
  fetch: (...request) => globalThis.fetch(...request),
};

/** Options of an added machine, all optional. */
export interface NodeOptions {
  readonly vendor?: Vendor;
  /** Differences from the profile of its vendor. */
  readonly quirks?: Partial<VendorProfile>;
  readonly name?: string;
  readonly uuid?: string;
  /** Password of its BMC, if not the one of the fleet. */
  readonly password?: string;
  /** Number of machines of the BMC. */
  readonly systems?: number;
  /** On from the start, with a system on its disk. */
  readonly inUse?: boolean;
  /** Simulated by default; machines in QEMU really run the booted system. */
  readonly machine?: 'simulated' | 'qemu';
  /** Hardware of a machine in QEMU. */
  readonly qemu?: QemuOptions;
}

export interface FleetCounts {
  readonly total: number;
  /** By method and route, like `GET /redfish/v1/Systems/{id}`. */
  readonly byRoute: ReadonlyMap<string, number>;
  /** By the name of the node. */
  readonly byNode: ReadonlyMap<string, number>;
}

/** Simulated servers on loopback addresses, one socket each, all on one port. */
export class Fleet implements AsyncDisposable {
  readonly nodes: Node[] = [];
  /** The same for every BMC. */
  readonly port: number;
  readonly #options: FleetOptions;
  readonly #authority: FleetAuthority | undefined;
  readonly #portReservation: AsyncDisposable;
  readonly #shellPortReservation: PortReservation | undefined;
  #bootUrl: string | undefined;
  #made = 0;
  /** Opened with the first machine in QEMU. */
  #rack: Promise<QemuRack> | undefined;

  /** Use `startFleet`. */
  constructor(
    options: FleetOptions,
    authority: FleetAuthority | undefined,
    [portReservation, shellPortReservation]: PortReservations,
  ) {
    this.#options = options;
    this.#authority = authority;
    this.#portReservation = portReservation;
    this.#shellPortReservation = shellPortReservation;
    this.port = portReservation.port;
    this.#bootUrl = options.bootUrl;
  }

  /** Certificate of the fleet's CA; undefined without HTTPS. */
  get caPem(): string | undefined {
    return this.#authority?.caPem;
  }

  /** Number of requests to all BMCs. */
  get counts(): FleetCounts {
    const byRoute = new Map<string, number>();
    for (const { bmc } of this.nodes) {
      for (const [route, count] of bmc.traffic.byRoute) byRoute.set(route, (byRoute.get(route) ?? 0) + count);
    }
    return {
      total: this.requestCount,
      byRoute,
      byNode: new Map(this.nodes.map(({ name, bmc }) => [name, bmc.traffic.total])),
    };
  }

  get requestCounts(): ReadonlyMap<string, number> {
    return this.counts.byRoute;
  }

  get requestCount(): number {
    return this.nodes.reduce((sum, { bmc }) => sum + bmc.traffic.total, 0);
  }

  setBootUrl(url: string | undefined): void {
    this.#bootUrl = url;
  }

  /** Adds a machine; its BMC listens when the promise resolves. */
  async add(options: NodeOptions = {}): Promise<Node> {
    const { vendor = 'generic' } = options;
    const index = this.#made;
    this.#made += 1;
    const { clock, credentials, latencyMs, bmcRestartMs, flashMs, seed, network, fetch } = this.#options;
    const profile: VendorProfile = { ...profiles[vendor], ...options.quirks };
    const address = `${network}.${Math.floor(index / 250)}.${(index % 250) + 1}`;
    const bmc = new SimulatedBmc({
      profile,
      machines: await this.#machinesOf(index, profile, options),
      address,
      macAddress: macAddress(profile.macPrefix, index, 0),
      managerUuid: uuidFrom(digestOf(`${seed}/${index}/manager`)),
      username: credentials.username,
      password: options.password ?? credentials.password,
      clock,
      latencyMs,
      restartMs: bmcRestartMs,
      flashMs,
      identity: await this.#authority?.identityFor(address),
      untrustedIdentity:
        this.#authority && (() => this.#authority?.untrustedIdentityFor(address) ?? Promise.reject(noAuthority)),
      fetch,
    });
    await bmc.listen(this.port);
    if (this.#shellPortReservation !== undefined) await bmc.openShell(this.#shellPortReservation.port);
    const node = new Node(options.name ?? `${vendor}-${String(index).padStart(4, '0')}`, vendor, bmc);
    this.nodes.push(node);
    return node;
  }

  /** Removes a machine: it loses power and its BMC closes. */
  async remove(node: Node): Promise<void> {
    const index = this.nodes.indexOf(node);
    if (index < 0) return;
    this.nodes.splice(index, 1);
    await stop(node);
  }

  /** MAC prefix database for this fleet, as YAML; also for vendors without a machine yet. */
  macPrefixFile(): string {
    const { credentials } = this.#options;
    const protocolScheme = this.#authority === undefined ? 'http' : 'https';
    const shellPort = this.#shellPortReservation?.port ?? 22;
    return macPrefixYaml({ nodes: this.nodes, credentials, protocolScheme, port: this.port, shellPort });
  }

  /** The Endpoints of the BMCs, as the management network would report them. */
  endpoints(): { name: string; macAddress: string; ip: string }[] {
    return this.nodes.map(({ name, bmc }) => ({ name, macAddress: bmc.macAddress, ip: bmc.address }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map(stop));
    await this.#rack?.then(
      (rack) => rack[Symbol.asyncDispose](),
      () => undefined,
    );
    await this.#portReservation[Symbol.asyncDispose]();
    await this.#shellPortReservation?.[Symbol.asyncDispose]();
  }

  async #machinesOf(index: number, profile: VendorProfile, options: NodeOptions): Promise<[Machine, ...Machine[]]> {
    const { systems = profile.systems, inUse = false, machine: kind = 'simulated' } = options;
    const make = async (part: number): Promise<Machine> => {
      const systemId = part === 0 ? profile.systemId : nextId(profile.systemId, part);
      const machine = await this.#makers[kind]({ index, part, systemId, profile, options });
      if (inUse) machine.setInUse();
      return machine;
    };
    return [await make(0), ...(await Promise.all(Array.from({ length: systems - 1 }, (_, part) => make(part + 1))))];
  }

  readonly #makers: Readonly<Record<NonNullable<NodeOptions['machine']>, (place: Place) => Promise<Machine>>> = {
    simulated: async ({ index, part, systemId, profile, options: { uuid } }) => {
      const { clock, fetch, seed } = this.#options;
      const defaultHardware = makeHardware(String(seed), index, part);
      return new SimulatedMachine({
        systemId,
        hardware: uuid === undefined || part > 0 ? defaultHardware : { ...defaultHardware, uuid },
        profile,
        ipAddress: `10.${20 + part}.${Math.floor(index / 250)}.${(index % 250) + 1}`,
        clock,
        times: () => this.#options,
        bootUrl: () => this.#bootUrl,
        probeRegistryUrl: this.#options.probeRegistryUrl,
        fetch,
        random: Math.random,
      });
    },
    qemu: async ({ index, part, systemId, profile, options: { uuid, qemu = {} } }) => {
      const { clock, fetch, seed } = this.#options;
      // One rack for all machines, also for those that are added while it opens.
      this.#rack ??= openRack();
      const rack = await this.#rack;
      const place = { seed: String(seed), index, part, profile, uuid: part === 0 ? uuid : undefined };
      const parts = makeQemuParts(place, qemu);
      return QemuMachine.make({ rack, parts, systemId, profile, clock, fetch, bootUrl: () => this.#bootUrl });
    },
  };
}

/** The position of a machine in the fleet, and its options. */
interface Place {
  readonly index: number;
  /** Number of the machine among several of one BMC. */
  readonly part: number;
  readonly systemId: string;
  readonly profile: VendorProfile;
  readonly options: NodeOptions;
}

const noAuthority = new FleetError('NoCertificates', 'a fleet without HTTPS has no certificates');

async function stop({ machines, bmc }: Node): Promise<void> {
  await Promise.all(machines.map((machine) => machine.dispose()));
  await bmc.close();
}

/** System.Embedded.1 → System.Embedded.2, system → system2. */
const nextId = (first: string, part: number): string => `${first.replace(/1$/, '')}${part + 1}`;

/** Starts a fleet, which stops when it is disposed. */
export async function startFleet(options: Partial<FleetOptions> = {}): Promise<Fleet> {
  const resolvedOptions = { ...defaults, ...options };
  const authority = resolvedOptions.https ? await createFleetAuthority() : undefined;
  const reservations: PortReservations = [
    await reservePort(resolvedOptions, resolvedOptions.port),
    resolvedOptions.shells ? await reservePort(resolvedOptions, 0) : undefined,
  ];
  const fleet = new Fleet(resolvedOptions, authority, reservations);
  try {
    for (let index = 0; index < resolvedOptions.count; index += 1) {
      await fleet.add({ vendor: resolvedOptions.vendors[index % resolvedOptions.vendors.length] ?? 'generic' });
    }
    return fleet;
  } catch (error) {
    await fleet[Symbol.asyncDispose]();
    throw error;
  }
}

/** Reservations of the port of the fleet, and of the port of its shells. */
type PortReservations = readonly [PortReservation, PortReservation | undefined];

interface PortReservation extends AsyncDisposable {
  readonly port: number;
}

/**
 * Reserves the port of the fleet on an address that every fleet uses for this: two fleets with a free port never get the
 * same one, also in different processes, and the port is known before the first BMC listens.
 */
async function reservePort({ network }: FleetOptions, port: number): Promise<PortReservation> {
  const server = createServer((socket) => socket.destroy());
  const host = `${network}.255.254`;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host }, resolve);
  }).catch((error: unknown) => {
    throw listenError(host, port, error);
  });
  server.unref();
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : port,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}
