import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { type RunningMetalOperator, startMetalOperator } from '@metal/metal-operator/metal-operator.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { Event, Lease } from '@metal/kube/kinds/builtin.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { type Clock, createClock } from '@metal/kube/runtime/clock.ts';
import { KubeError } from '@metal/kube/errors.ts';
import type { Kind, KubeObject } from '@metal/kube/kinds/kind.ts';
import { readConfig } from '@metal/operator/config.ts';
import { type Fleet, type Node, startFleet } from '@metal/simulator/fleet.ts';
import { type Vendor, vendors } from '@metal/simulator/profiles.ts';
import { pino } from 'pino';
import { freePort } from '@metal/controlplane/free-port.ts';
import { type Cluster, type ClusterOptions, emptyCluster, openCluster, startCluster } from './cluster.ts';
import { scaledClock } from './scaled-clock.ts';
import { restrictedKubeconfig } from './roles.ts';
import { ClaimHandle, type ClaimOptions } from './claim-handle.ts';
import { type OperatorProcess, startOperatorProcess } from '@metal/project/operator-process.ts';
import { WatchedObject, untilChanged } from './watched-object.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { ControlPlaneAccess } from '@metal/controlplane/running-control-plane.ts';
import { Timeline } from './timeline.ts';

export interface TestenvOptions {
  /** Time in the test environment runs this many times faster than the wall clock. */
  speed?: number;
  /** Extra flags of the operator. */
  flags?: readonly string[];
  /** Options of the fleet; vendors are chosen with `addNodes`. */
  fleet?: Omit<NonNullable<Parameters<typeof startFleet>[0]>, 'count' | 'vendors' | 'clock'>;
  /** Text of the MAC prefix database instead of the fleet's own. */
  macPrefixes?: (fleet: Fleet) => string;
  /** Verify BMC certificates against the fleet's CA. */
  bmcCa?: boolean;
  /** The reason why the operator runs as an administrator here, and not under its generated roles. */
  asAdministrator?: string;
  /** Roles that the operator's account is not bound to. */
  withoutRoles?: readonly string[];
  /** How the operator runs: inside the test, as a separate process, or not until requested. */
  operator?: 'inside' | 'process' | 'none';
  /** Limit of devices, claims and cleanups in flight, each. */
  maxInFlight?: number;
  /** Timeout of each wait, in wall-clock time; two minutes by default. */
  timeoutMs?: number;
  /** An existing API server, which is emptied on return. By default a new one is started. */
  cluster?: ControlPlaneAccess;
}

/**
 * Simulated machines, a real API server, and the operator. Every method that waits does so on a watch, has a deadline,
 * and on failure prints the events in order.
 */
export class Testenv implements AsyncDisposable {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly fleet: Fleet;
  readonly timeline: Timeline;
  readonly kubeconfigPath: string;
  readonly cluster: ControlPlaneAccess;
  /** Caches of the test environment itself: a write through `client` is in them when it returns. */
  readonly caches: CacheSet;
  readonly servers: Cache<Server>;
  readonly claims: Cache<ServerClaim>;
  readonly bmcs: Cache<BMC>;
  readonly endpoints: Cache<Endpoint>;
  readonly boots: Cache<ServerBootConfiguration>;
  readonly inventories: Cache<ServerInventory>;
  readonly erasures: Cache<ErasureReport>;
  readonly events: Cache<Event>;
  readonly leases: Cache<Lease>;
  readonly rules: Cache<ServerReadinessRule>;
  readonly users: Cache<BMCUser>;
  readonly secrets: Cache<BMCSecret>;
  readonly #stack: AsyncDisposableStack;
  readonly #flags: readonly string[];
  readonly #maxInFlight: number | undefined;
  #system: RunningMetalOperator | undefined;
  #claims = 0;

  constructor(parts: {
    client: KubeClient;
    caches: CacheSet;
    clock: Clock;
    fleet: Fleet;
    cluster: ControlPlaneAccess;
    flags: readonly string[];
    timeoutMs: number;
    maxInFlight: number | undefined;
    stack: AsyncDisposableStack;
  }) {
    const { client, caches, clock, fleet } = parts;
    this.client = client;
    this.clock = clock;
    this.fleet = fleet;
    this.cluster = parts.cluster;
    this.caches = caches;
    this.kubeconfigPath = parts.cluster.kubeconfigPath;
    this.#flags = parts.flags;
    this.#maxInFlight = parts.maxInFlight;
    this.#stack = parts.stack;
    this.servers = caches.watch(Server, { indexes: { uuid: ({ spec }) => [spec.systemUUID.toLowerCase()] } });
    this.claims = caches.watch(ServerClaim);
    this.bmcs = caches.watch(BMC);
    this.endpoints = caches.watch(Endpoint);
    this.boots = caches.watch(ServerBootConfiguration);
    this.inventories = caches.watch(ServerInventory);
    this.erasures = caches.watch(ErasureReport);
    this.leases = caches.watch(Lease, { namespace: 'default' });
    this.rules = caches.watch(ServerReadinessRule);
    this.users = caches.watch(BMCUser);
    this.secrets = caches.watch(BMCSecret);
    this.events = caches.watch(Event, {
      indexes: { about: ({ regarding, reason }) => [`${regarding.name}/${reason}`] },
    });
    const { servers, claims, bmcs, endpoints, boots, users } = this;
    this.timeline = new Timeline({ servers, claims, bmcs, endpoints, boots, users }, parts.timeoutMs);
  }

  /** Adds machines to the rack; the operator gets no Endpoint of them. */
  async addNodes(wanted: Partial<Record<Vendor, number>>): Promise<Node[]> {
    const nodes: Node[] = [];
    for (const vendor of vendors) {
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

  /** A BMC outside of the fleet, with its credentials. */
  async addBmc(
    name: string,
    at: { port: number; scheme: 'http' | 'https'; username: string; password: string; caPem?: string },
  ): Promise<void> {
    const { port, scheme, username, password, caPem } = at;
    await this.client.create(BMCSecret, { metadata: { name }, stringData: { username, password } });
    await this.client.create(BMC, {
      metadata: { name },
      spec: {
        access: { ip: '127.0.0.1', macAddress: '52:54:00:ff:ff:01' },
        bmcSecretRef: { name },
        protocol: { name: 'Redfish', port, scheme, ...(caPem === undefined ? {} : { tls: { caBundle: caPem } }) },
      },
    });
  }

  /** A token of a service account of its own. */
  async tokenFor(account: string): Promise<string> {
    const path = '/api/v1/namespaces/default/serviceaccounts';
    const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace: 'default' } };
    await this.client.raw({ method: 'POST', path, body }).catch(toleratePresent);
    const response = await this.client.raw<{ status: { token: string } }>({
      method: 'POST',
      path: `${path}/${account}/token`,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    });
    return response.status.token;
  }

  /** Grants a service account access to the metrics. */
  async allowMetrics(account: string): Promise<void> {
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const metadata = { name: `testenv-metrics-${account}` };
    const rules = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }];
    await this.client
      .raw({ method: 'POST', path: `${rbac}/clusterroles`, body: { apiVersion, kind: 'ClusterRole', metadata, rules } })
      .catch(toleratePresent);
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name };
    const subjects = [{ kind: 'ServiceAccount', name: account, namespace: 'default' }];
    await this.client
      .raw({
        method: 'POST',
        path: `${rbac}/clusterrolebindings`,
        body: { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
      })
      .catch(toleratePresent);
  }

  /** An object of any watched kind; in namespace `default`, if the kind has namespaces. */
  object(kind: Kind, name: string): WatchedObject<KubeObject> {
    const key = kind.scope === 'Namespaced' ? `default/${name}` : name;
    return this.#named(`${kind.kind} ${name}`, this.caches.of(kind), key, () => undefined);
  }

  bmcNamed(name: string): WatchedObject<BMC> {
    return this.#named(`BMC ${name}`, this.bmcs, name, ({ status }) => status?.state);
  }

  serverNamed(name: string): WatchedObject<Server> {
    return this.#named(`Server ${name}`, this.servers, name, ({ status }) => status?.state);
  }

  serverOf(systemUuid: string): WatchedObject<Server> {
    const find = () => this.servers.by('uuid', systemUuid.toLowerCase())[0];
    return new WatchedObject({
      what: `server ${systemUuid}`,
      cache: this.servers,
      find,
      phase: ({ status }) => status?.state,
      timeline: this.timeline,
    });
  }

  /** The first event with this reason, and this text in its note, about the object or the one of that name. */
  hasEvent(about: KubeObject | string, reason: string, text = ''): Promise<Event> {
    const { name, uid } = typeof about === 'string' ? { name: about, uid: undefined } : about.metadata;
    const matches = ({ note, regarding }: Event) =>
      note.includes(text) && (regarding.uid ?? uid) === (uid ?? regarding.uid);
    return new WatchedObject({
      what: `events of ${name}`,
      cache: this.events,
      find: () => this.events.by('about', `${name}/${reason}`).find(matches),
      phase: () => undefined,
      timeline: this.timeline,
    }).until(`has event ${reason} ${text}`.trimEnd(), () => true);
  }

  /** Requests an operation by annotation, as a user would. */
  requestOperation(server: Server, operation: string): Promise<Server> {
    return this.patchServer(server.metadata.name, {
      metadata: { annotations: { 'metal.ironcore.dev/operation': operation } },
    });
  }

  patchServer(name: string, patch: object): Promise<Server> {
    return this.client.mergePatch(Server, { name }, patch);
  }

  patchBmc(name: string, patch: object): Promise<BMC> {
    return this.client.mergePatch(BMC, { name }, patch);
  }

  /** A condition that another program reports on the server. */
  async report(node: Node, type: string, status: 'True' | 'False'): Promise<void> {
    const { metadata } = await this.server(node).exists();
    const lastTransitionTime = new Date(this.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const condition = { type, status, reason: 'Reported', message: 'by a story', lastTransitionTime };
    await this.client.apply(
      Server,
      { metadata: { name: metadata.name }, status: { conditions: [condition] } },
      { fieldManager: `story-${type}`, subresource: 'status', force: true },
    );
  }

  /** Creates a readiness rule, about all servers by default. */
  async createRule(
    name: string,
    spec: Partial<ServerReadinessRule['spec']> & Pick<ServerReadinessRule['spec'], 'conditions'>,
  ): Promise<WatchedObject<ServerReadinessRule>> {
    const taint = { key: 'not-ready', effect: 'NoBind' as const };
    await this.client.create(ServerReadinessRule, {
      metadata: { name },
      spec: { enforcementMode: 'Continuous', taint, serverSelector: {}, ...spec },
    });
    return this.#named(`rule ${name}`, this.rules, name, () => undefined);
  }

  /** Corrects credentials, as an administrator would. */
  async patchSecret(name: string, texts: Record<string, string>): Promise<void> {
    const data = Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    );
    await this.client.mergePatch(BMCSecret, { name }, { data });
  }

  /** Annotates the BMCSecret, as an administrator does after a correction on the BMC; each value is another change. */
  async annotateSecret(name: string, value: string): Promise<void> {
    await this.client.mergePatch(BMCSecret, { name }, { metadata: { annotations: { 'example.org/try': value } } });
  }

  get system(): RunningMetalOperator {
    if (this.#system === undefined)
      throw new Error('this test environment has no operator inside; call startOperator first');
    return this.#system;
  }

  server(node: Node): WatchedObject<Server> {
    return this.serverOf(node.uuid);
  }

  /** The machine itself, beyond what the operator sees of it. */
  machine({ name, machine }: Node): { until(description: string, holds: () => boolean): Promise<void> } {
    return {
      until: (description, holds) =>
        untilChanged(`machine ${name}`, description, holds, (check) => machine.onChange(check), this.timeline),
    };
  }

  bmc(node: Node): WatchedObject<BMC> {
    return this.#named(`BMC ${node.name}`, this.bmcs, node.name, ({ status }) => status?.state);
  }

  inventoryOf(node: Node): WatchedObject<ServerInventory> {
    const find = () => [...this.inventories.all()].find(({ spec }) => spec.systemUUID === node.uuid.toLowerCase());
    return new WatchedObject({
      what: `inventory of ${node.name}`,
      cache: this.inventories,
      find,
      phase: () => undefined,
      timeline: this.timeline,
    });
  }

  /** The boot configuration of that name in the namespace `default`. */
  bootNamed(name: string): WatchedObject<ServerBootConfiguration> {
    return this.#named(`boot ${name}`, this.boots, `default/${name}`, ({ status }) => status?.state);
  }

  /** The boot configuration of the machine's discovery. */
  bootOf(node: Node): WatchedObject<ServerBootConfiguration> {
    const find = () =>
      [...this.boots.all()].find(({ spec }) => spec.serverRef.name === this.server(node).now?.metadata.name);
    return new WatchedObject({
      what: `boot of ${node.name}`,
      cache: this.boots,
      find,
      phase: ({ status }) => status?.state,
      timeline: this.timeline,
    });
  }

  user(name: string): WatchedObject<BMCUser> {
    return this.#named(`BMCUser ${name}`, this.users, name, ({ status }) => status?.state);
  }

  secret(name: string): WatchedObject<BMCSecret> {
    return this.#named(`BMCSecret ${name}`, this.secrets, name, () => undefined);
  }

  /** Accounts, logins and shell commands of the machine's BMC, beyond what the operator sees of them. */
  accounts({ name, bmc }: Node): { until(description: string, holds: () => boolean): Promise<void> } {
    return {
      until: (description, holds) =>
        untilChanged(`BMC ${name}`, description, holds, (check) => bmc.access.onChange(check), this.timeline),
    };
  }

  endpoint(node: Node): WatchedObject<Endpoint> {
    return this.endpointNamed(node.name);
  }

  endpointNamed(name: string): WatchedObject<Endpoint> {
    return this.#named(`Endpoint ${name}`, this.endpoints, name, () => undefined);
  }

  /** Creates a claim; with `on`, for that machine only. */
  async claim({ on, name, ...spec }: ClaimOptions): Promise<ClaimHandle> {
    this.#claims += 1;
    const serverRef = on === undefined ? undefined : { name: (await this.server(on).exists()).metadata.name };
    const claim = await this.client.create(ServerClaim, {
      metadata: { name: name ?? `claim-${this.#claims}`, namespace: 'default' },
      spec: { power: 'On', ...(serverRef === undefined ? {} : { serverRef }), ...spec },
    });
    const watched = this.#named(
      `claim ${claim.metadata.name}`,
      this.claims,
      `default/${claim.metadata.name}`,
      ({ status }) => status?.phase,
    );
    return new ClaimHandle(this.client, claim, watched);
  }

  /** Calls after every change of a watched object. */
  onChange(listener: () => void): Disposable {
    const stack = new DisposableStack();
    const { servers, claims, bmcs, endpoints, boots, inventories } = this;
    for (const cache of [servers, claims, bmcs, endpoints, boots, inventories]) stack.use(cache.onChange(listener));
    return stack;
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  #named<T extends KubeObject>(
    what: string,
    cache: Cache<T>,
    key: string,
    phase: (object: T) => string | undefined,
  ): WatchedObject<T> {
    return new WatchedObject({ what, cache, find: () => cache.get(key), phase, timeline: this.timeline });
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
      createKubeClient({ kubeconfigPath: cluster.kubeconfigPath, defaultFieldManager: 'testenv' }),
    );
    if (options.cluster !== undefined) stack.defer(() => emptyCluster(client));
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
    const flags = await flagsOf(options, fleet, kubeconfigPath, stack);
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

function toleratePresent(error: unknown): void {
  if (!(error instanceof KubeError) || error.code !== 'AlreadyExists') throw error;
}

async function flagsOf(
  options: TestenvOptions,
  fleet: Fleet,
  kubeconfigPath: string,
  stack: AsyncDisposableStack,
): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'metal-testenv-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const path = (name: string) => join(directory, name);
  await writeFile(path('prefixes.yaml'), options.macPrefixes?.(fleet) ?? fleet.macPrefixFile());
  if (options.bmcCa === true) await writeFile(path('ca.pem'), fleet.caPem ?? '');
  await writeFile(path('vmlinuz'), 'kernel of the test environment\n'.repeat(64));
  await writeFile(path('initrd'), 'initrd of the test environment\n'.repeat(64));
  const image = { kernel: path('vmlinuz'), initrd: path('initrd') };
  await writeFile(
    path('images.json'),
    JSON.stringify({ 'probe-os': image, 'registry.test/os:1': image, 'registry.test/os:2': image }),
  );
  return [
    `--kubeconfig=${kubeconfigPath}`,
    `--mac-prefixes-file=${path('prefixes.yaml')}`,
    `--boot-images=${path('images.json')}`,
    '--probe-image=probe',
    '--probe-os-image=probe-os',
    ...(await portFlags(options.operator ?? 'inside')),
    '--protocol=http',
    '--metrics-bind-address=0',
    '--health-probe-bind-address=0',
    '--bmc-call-timeout=1m',
    ...(options.bmcCa === true ? [`--bmc-ca-file=${path('ca.pem')}`] : []),
    ...(options.flags ?? []),
  ];
}

/** Machines reach a killed and restarted operator process at the same addresses. */
async function portFlags(operator: NonNullable<TestenvOptions['operator']>): Promise<string[]> {
  if (operator === 'inside')
    return ['--registry-url=http://127.0.0.1', '--registry-port=0', '--boot-port=0', '--metadata-port=0'];
  const [registry, boot] = [await freePort(), await freePort()];
  return [
    `--registry-url=http://127.0.0.1:${registry}`,
    `--registry-port=${registry}`,
    `--boot-url=http://127.0.0.1:${boot}`,
    `--boot-port=${boot}`,
  ];
}

/**
 * Test environments for one test file: they follow each other on one API server, which the first one opens and the end
 * of the file returns.
 * Options of the API server make it one of the file's own.
 */
export function testenvsOfFile(on?: ClusterOptions): (options?: TestenvOptions) => Promise<Testenv> {
  let cluster: Promise<Cluster> | undefined;
  after(async () => (await cluster)?.[Symbol.asyncDispose]());
  return async (options = {}) => {
    cluster ??= on === undefined ? openCluster() : startCluster(on);
    return startTestenv({ ...options, cluster: await cluster });
  };
}
