import { type RunningMetalOperator, startMetalOperator } from '@metal/metal-operator/metal-operator.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import type { ComparedKinds } from '@metal/kube/client/installed-kinds.ts';
import { type Clock, createClock } from '@metal/kube/runtime/clock.ts';
import { readConfig } from '@metal/metal-operator/command-line.ts';
import { type Fleet, type Node, startFleet } from '@metal/simulator/fleet.ts';
import { profileNames, type Vendor } from '@metal/simulator/profiles.ts';
import { pino } from 'pino';
import { type Cluster, type ClusterOptions, clusterOfFile, openCluster, startCluster } from './cluster/cluster.ts';
import { createTestClient } from './cluster/late-watches.ts';
import { scaledClock } from './operator/scaled-clock.ts';
import { bindMetal3Role, restrictedKubeconfig } from './cluster/roles.ts';
import { ClaimHandle, type ClaimOptions } from './cluster/claim-handle.ts';
import { type OperatorProcess, startOperatorProcess } from '@metal/project/operator-process.ts';
import { ClusterObjects, type ClusterObjectsOptions } from './cluster/cluster-objects.ts';
import { type OperatorFlagOptions, operatorFlags } from './operator/operator-flags.ts';
import { untilChanged } from './cluster/watched-object.ts';

export interface TestenvOptions extends OperatorFlagOptions {
  /** Time in the test environment runs this many times faster than the wall clock. */
  speed?: number;
  /** Options of the fleet; vendors are chosen with `addNodes`. */
  fleet?: Omit<NonNullable<Parameters<typeof startFleet>[0]>, 'count' | 'vendors' | 'clock'>;
  /** The reason why the operator runs as an administrator here, and not under its generated roles. */
  asAdministrator?: string;
  /** Roles that the operator's account is not bound to. */
  withoutRoles?: readonly string[];
  /** The operator's account has the role of the component metal3 too. */
  metal3?: boolean;
  /** Limit of devices, claims and cleanups in flight, each. */
  maxInFlight?: number;
  /** Timeout of each wait, in wall-clock time; two minutes by default. */
  timeoutMs?: number;
  /** An existing API server, which is emptied on return. By default a new one is started. */
  cluster?: Cluster;
}

export interface TestenvParts extends ClusterObjectsOptions {
  readonly fleet: Fleet;
  readonly cluster: Cluster;
  readonly flags: readonly string[];
  readonly maxInFlight: number | undefined;
  readonly stack: AsyncDisposableStack;
}

/** Of all operators of this process, by UID: a comparison of all kinds takes a tenth of a second of processor time. */
const comparedKinds: ComparedKinds = new Map();

/**
 * Simulated machines, a real API server, and the operator. Every method that waits does so on a watch, has a deadline,
 * and on failure prints the events in order.
 */
export class Testenv extends ClusterObjects implements AsyncDisposable {
  readonly clock: Clock;
  readonly fleet: Fleet;
  readonly kubeconfigPath: string;
  readonly cluster: Cluster;
  readonly #stack: AsyncDisposableStack;
  readonly #flags: readonly string[];
  readonly #maxInFlight: number | undefined;
  #system: RunningMetalOperator | undefined;
  #claimCount = 0;

  constructor(parts: TestenvParts) {
    super(parts);
    this.clock = parts.clock;
    this.fleet = parts.fleet;
    this.cluster = parts.cluster;
    this.kubeconfigPath = parts.cluster.kubeconfigPath;
    this.#flags = parts.flags;
    this.#maxInFlight = parts.maxInFlight;
    this.#stack = parts.stack;
  }

  /** Adds machines to the rack; the operator gets no Endpoint of them. */
  async addNodes(wanted: Partial<Record<Vendor, number>>): Promise<Node[]> {
    const nodes: Node[] = [];
    for (const vendor of profileNames) {
      const count = wanted[vendor] ?? 0;
      for (let index = 0; index < count; index += 1) nodes.push(await this.fleet.add({ vendor }));
    }
    for (const node of nodes) this.timeline.follow(node);
    return nodes;
  }

  /** Connects the machines to the management network: their Endpoints are created. */
  async plugIn(...nodes: readonly Node[]): Promise<void> {
    for (const node of nodes) {
      const { name, bmc } = node;
      await this.client.create(Endpoint, { metadata: { name }, spec: { macAddress: bmc.macAddress, ip: bmc.address } });
    }
  }

  /** Each further operator, with its own identity, is another replica. */
  async startOperator(identity = `testenv-${process.pid}`): Promise<RunningMetalOperator> {
    const config = readConfig(this.#flags, {});
    const log = pino({ level: process.env.TESTENV_LOG ?? 'silent' }, process.stderr);
    const system = await startMetalOperator({
      config,
      clock: this.clock,
      random: Math.random,
      log,
      identity,
      maxInFlight: this.#maxInFlight,
      comparedKinds,
    });
    this.#stack.use(system);
    this.#system = system;
    if (system.bootUrl !== undefined) this.fleet.setBootUrl(system.bootUrl);
    return system;
  }

  /** Boot steps seen by the boot service so far, in the order of their first occurrence. */
  async bootSteps(): Promise<string[]> {
    const metric = await this.#system?.metrics.getSingleMetric('metal_boot_steps_total')?.get();
    return (metric?.values ?? []).map(({ labels }) => String(labels.step));
  }

  /** The operator as a separate process, so that it can be killed. */
  async startOperatorProcess(
    extraFlags: readonly string[] = [],
    onLine?: (line: string) => void,
  ): Promise<OperatorProcess> {
    const operator = await startOperatorProcess({ flags: [...this.#flags, ...extraFlags], onLine });
    this.#stack.use(operator);
    this.fleet.setBootUrl(operator.bootUrl);
    return operator;
  }

  get system(): RunningMetalOperator {
    if (this.#system === undefined)
      throw new Error('this test environment has no operator inside; call startOperator first');
    return this.#system;
  }

  /** The machine itself, beyond what the operator sees of it. */
  machine({ name, machine }: Node): { until(description: string, holds: () => boolean): Promise<void> } {
    return {
      until: (description, holds) =>
        untilChanged(`machine ${name}`, description, holds, (check) => machine.onChange(check), this.timeline),
    };
  }

  /** Accounts, logins and shell commands of the machine's BMC, beyond what the operator sees of them. */
  accounts({ name, bmc }: Node): { until(description: string, holds: () => boolean): Promise<void> } {
    return {
      until: (description, holds) =>
        untilChanged(`BMC ${name}`, description, holds, (check) => bmc.access.onChange(check), this.timeline),
    };
  }

  /** Creates a claim; with `on`, for that machine only. */
  async claim({ on, name, ...spec }: ClaimOptions): Promise<ClaimHandle> {
    const number = (this.#claimCount += 1);
    const serverRef = on === undefined ? undefined : { name: (await this.server(on).exists()).metadata.name };
    const claim = await this.client.create(ServerClaim, {
      metadata: { name: name ?? `claim-${number}`, namespace: 'default' },
      spec: { power: 'On', ...(serverRef === undefined ? {} : { serverRef }), ...spec },
    });
    return new ClaimHandle(this.client, claim, this.claims.named(claim.metadata.name));
  }

  /** Resolves when nothing has changed for this long. */
  async untilStable(forMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let timer = this.clock.setTimeout(forMs, resolve);
    using _watch = this.onChange(() => {
      timer[Symbol.dispose]();
      timer = this.clock.setTimeout(forMs, resolve);
    });
    await promise;
  }

  /** Throws if a condition had a message that is too long. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
    this.messageLengths.verify();
  }
}

/** Opens a test environment of its own: API server, fleet and operator. Disposing ends all of them. */
export async function startTestenv(options: TestenvOptions = {}): Promise<Testenv> {
  const stack = new AsyncDisposableStack();
  try {
    const { speed = 25 } = options;
    // In real time, as for operators that are separate processes, stalls of this process count.
    const clock = speed === 1 ? createClock() : stack.use(scaledClock(speed));
    const cluster = options.cluster ?? stack.use(await openCluster());
    const client = stack.use(
      createTestClient({ kubeconfigPath: cluster.kubeconfigPath, defaultFieldManager: 'testenv' }),
    );
    if (options.cluster !== undefined) stack.defer(() => cluster.empty());
    const fleet = stack.use(
      await startFleet({
        count: 0,
        clock,
        latencyMs: 0,
        powerOnMs: 500,
        powerOffMs: 500,
        bootMs: 1_000,
        ...options.fleet,
      }),
    );
    const kubeconfigPath =
      options.asAdministrator === undefined
        ? await restrictedKubeconfig(cluster, client, options.withoutRoles)
        : cluster.kubeconfigPath;
    if (options.metal3 === true) await bindMetal3Role(client);
    const flags = await operatorFlags(options, fleet, kubeconfigPath, stack);
    const caches = new CacheSet({ client, clock, log: pino({ level: 'silent' }) });
    const timeoutMs = options.timeoutMs ?? 120_000;
    const { maxInFlight } = options;
    const testenv = new Testenv({ client, caches, clock, fleet, cluster, flags, timeoutMs, maxInFlight, stack });
    stack.defer(() => caches.stop());
    await caches.start(new AbortController().signal);
    testenv.timeline.start();
    if ((options.operator ?? 'inside') === 'inside') await testenv.startOperator();
    return testenv;
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/**
 * Test environments for one test file: they follow each other on one API server, which the first one opens and the end
 * of the file returns.
 * Options of the API server make it one of the file's own.
 */
export function testenvsOfFile(on?: ClusterOptions): (options?: TestenvOptions) => Promise<Testenv> {
  const cluster = clusterOfFile(on === undefined ? openCluster : () => startCluster(on));
  return async (options = {}) => startTestenv({ ...options, cluster: await cluster() });
}
