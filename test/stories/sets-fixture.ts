import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BIOSSettingsSet } from '@metal/api/v1alpha1/bios-settings-set.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { removeFinalizer } from '@metal/kube/controller/finalizers.ts';
import type { Condition, Kind, KubeObject } from '@metal/kube/kinds/kind.ts';
import { Event } from '@metal/kube/kinds/builtin.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';
import { type OperatorCaches, watchOperatorKinds } from '@metal/operator/caches.ts';
import { complianceController } from '@metal/operator/controllers/servercompliance/controller.ts';
import { setControllers } from '@metal/operator/controllers/sets/controller.ts';
import type { SetKind } from '@metal/operator/controllers/sets/set-kind.ts';
import * as setKinds from '@metal/operator/controllers/sets/set-kinds.ts';
import { startOperator } from '@metal/operator/operator.ts';
import { readOperatorConfig } from '@metal/operator/options.ts';
import { type Cluster, emptyCluster, openCluster } from '@metal/testenv/cluster/cluster.ts';
import { createTestClient } from '@metal/testenv/cluster/late-watches.ts';
import { restrictedKubeconfig } from '@metal/testenv/cluster/roles.ts';
import { scaledClock } from '@metal/testenv/operator/scaled-clock.ts';
import { pino } from 'pino';
import { Registry } from 'prom-client';

type Work = NonNullable<BIOSSettings['status']>;
/** An object that a set creates, or a set. */
interface Observed extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
}

const timeoutMs = 30_000;

/**
 * An API server with the controllers of sets alone, under the operator's roles. Tests write the status of the objects that the sets
 * create, as the controllers of these objects do.
 */
export class SetsEnv implements AsyncDisposable {
  readonly client: KubeClient;
  readonly caches: OperatorCaches;
  readonly #events;
  readonly #cacheSet: CacheSet;
  readonly #clock: Clock;
  readonly #kubeconfigPath: string;
  readonly #stack: AsyncDisposableStack;
  #operator: AsyncDisposable | undefined;

  private constructor(client: KubeClient, kubeconfigPath: string, clock: Clock, stack: AsyncDisposableStack) {
    this.client = client;
    this.#clock = clock;
    this.#kubeconfigPath = kubeconfigPath;
    this.#stack = stack;
    this.#cacheSet = new CacheSet({ client, clock, log: pino({ level: 'silent' }) });
    this.caches = watchOperatorKinds(this.#cacheSet);
    this.#events = this.#cacheSet.watch(Event);
    stack.defer(() => this.#cacheSet.stop());
  }

  static async start(cluster: Cluster): Promise<SetsEnv> {
    await using stack = new AsyncDisposableStack();
    const client = stack.use(
      createTestClient({ kubeconfigPath: cluster.kubeconfigPath, defaultFieldManager: 'story' }),
    );
    await emptyCluster(client);
    const clock = stack.use(scaledClock(25));
    const env = new SetsEnv(client, await restrictedKubeconfig(cluster, client), clock, stack.move());
    env.#stack.use(env.#finishDeletions());
    await env.#cacheSet.start();
    await env.startOperator();
    return env;
  }

  async startOperator(): Promise<void> {
    await using stack = new AsyncDisposableStack();
    const client = stack.use(createKubeClient({ kubeconfigPath: this.#kubeconfigPath }));
    const log = pino({ level: process.env.TESTENV_LOG ?? 'silent' }, process.stderr);
    const cacheSet = new CacheSet({ client, clock: this.#clock, log });
    stack.defer(() => cacheSet.stop());
    const operator = await startOperator({
      config: readOperatorConfig({}),
      identity: 'sets',
      leaderElect: false,
      lease: { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 },
      client,
      cacheSet,
      caches: watchOperatorKinds(cacheSet),
      registry: { url: 'http://192.0.2.1:10000', auth: 'token', caPem: undefined },
      bootTokenKey: async () => new Uint8Array(32),
      bmcEvents: new KeyNotifier(),
      firmwareImages: { bootUrl: undefined, isRefusedAddress: () => false },
      controllers: [...setControllers, complianceController],
      clock: this.#clock,
      random: Math.random,
      log,
      metrics: new Registry(),
    });
    stack.use(operator);
    this.#operator = stack.move();
  }

  async stopOperator(): Promise<void> {
    await this.#operator?.[Symbol.asyncDispose]();
    this.#operator = undefined;
  }

  /** Removes the finalizer of each object of a set that is deleted, as its controller does. */
  #finishDeletions(): DisposableStack {
    const stack = new DisposableStack();
    for (const kind of Object.values(setKinds) as unknown as readonly SetKind[])
      stack.use(
        kind.children(this.caches).onChange(({ after }) => {
          if (after?.metadata.deletionTimestamp === undefined) return;
          // The environment may end meanwhile.
          removeFinalizer(this.client, kind.childKind, after, kind.childFinalizer).catch(() => undefined);
        }),
      );
    return stack;
  }

  /** Servers `s-1`, `s-2`, … with the label `set`. */
  async createServers(count: number, labels: Record<string, string> = { set: 'a' }, first = 1): Promise<string[]> {
    const names = Array.from({ length: count }, (_, index) => `s-${first + index}`);
    for (const name of names) await this.createServer(name, labels);
    return names;
  }

  async createServer(name: string, labels: Record<string, string>, bmc?: string): Promise<void> {
    const bmcRef = bmc === undefined ? {} : { bmcRef: { name: bmc } };
    await this.client.create(Server, { metadata: { name, labels }, spec: { systemUUID: name, ...bmcRef } });
  }

  async createBmc(name: string, labels: Record<string, string>): Promise<void> {
    await this.client.create(BMC, {
      metadata: { name, labels },
      spec: { bmcSecretRef: { name }, protocol: { name: 'Redfish', port: 443 }, access: { ip: '192.0.2.1' } },
    });
  }

  /** A set over the servers with this label, whose rollout is limited. */
  createSettings(name: string, spec: Partial<BIOSSettingsSet['spec']> = {}): Promise<BIOSSettingsSet> {
    return this.client.create(BIOSSettingsSet, {
      metadata: { name },
      spec: {
        serverSelector: { matchLabels: { set: 'a' } },
        biosSettingsTemplate: template('on'),
        ...spec,
      },
    });
  }

  /** Reports a status of the object's present spec, as its controller does. */
  async report<T extends KubeObject>(kind: Kind<T>, name: string, status: Partial<Work>): Promise<void> {
    const { metadata } = await this.client.get(kind, { name });
    const patch = { status: { observedGeneration: metadata.generation, ...status } };
    await this.client.mergePatch(kind, { name }, patch, { subresource: 'status' });
  }

  /** It was compared, and this many settings differ. */
  async compared(name: string, total: number): Promise<void> {
    const changes = total === 0 ? [] : [{ name: 'Boot', from: 'off', to: 'on' }];
    await this.report(BIOSSettings, name, { state: 'Pending', plan: { restart: 'Host', changes, total } });
  }

  async done(name: string): Promise<void> {
    await this.report(BIOSSettings, name, { state: 'Applied', plan: { restart: 'None', changes: [], total: 0 } });
  }

  async failed(name: string): Promise<void> {
    await this.report(BIOSSettings, name, { state: 'Failed' });
  }

  /** Waits until all of them exist and reports that each has one difference. */
  async allCompared(set: string, servers: readonly string[]): Promise<void> {
    for (const server of servers) {
      await this.until(BIOSSettings, `${set}-${server}`, 'exists', () => true);
      await this.compared(`${set}-${server}`, 1);
    }
  }

  /** Names of servers whose settings the set has started, in order. */
  started(set: string): string[] {
    return [...this.caches.biosSettings.all()]
      .filter(({ metadata }) => metadata.annotations?.['metal.ironcore.dev/rollout-started'] !== undefined)
      .map(({ metadata }) => metadata.name.slice(set.length + 1))
      .toSorted();
  }

  untilStarted(set: string, ...servers: string[]): Promise<void> {
    return this.#untilChanged(
      `${set} starts ${servers.join()}`,
      () => servers.every((server) => this.started(set).includes(server)),
      () => this.started(set).join(),
      (check) => this.caches.biosSettings.onChange(check),
    );
  }

  async until<T extends KubeObject>(
    kind: Kind<T>,
    name: string,
    what: string,
    holds: (object: T) => boolean,
  ): Promise<T> {
    const cache = this.#cacheSet.of(kind);
    const find = (): T | undefined => cache.get(name);
    const isFound = (): boolean => {
      const object = find();
      return object !== undefined && holds(object);
    };
    await this.#untilChanged(
      `${kind.kind} ${name} ${what}`,
      isFound,
      () => JSON.stringify(find(), undefined, 1),
      (check) => cache.onChange(check),
    );
    return this.client.get(kind, { name });
  }

  isGone(kind: Kind, name: string): Promise<void> {
    const cache = this.#cacheSet.of(kind);
    return this.#untilChanged(
      `${kind.kind} ${name} is gone`,
      () => cache.get(name) === undefined,
      () => '',
      (check) => cache.onChange(check),
    );
  }

  /** The condition has this reason, and a message that contains the text. */
  hasReason<T extends Observed>(kind: Kind<T>, name: string, type: string, reason: string, text = ''): Promise<T> {
    return this.until(kind, name, `has ${type} with ${reason} ${text}`, ({ status }) =>
      (status?.conditions ?? []).some(
        (one) => one.type === type && one.reason === reason && one.message.includes(text),
      ),
    );
  }

  hasEvent(about: string, reason: string): Promise<void> {
    return this.#untilChanged(
      `${about} has event ${reason}`,
      () => [...this.#events.all()].some((event) => event.reason === reason && event.regarding.name === about),
      () => '',
      (check) => this.#events.onChange(check),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopOperator();
    await this.#stack.disposeAsync();
  }

  #untilChanged(
    what: string,
    holds: () => boolean,
    state: () => string,
    follow: (check: () => void) => Disposable,
  ): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const check = () => holds() && resolve();
    const subscription = follow(check);
    const timer = setTimeout(
      () => reject(new Error(`${what}: not within ${timeoutMs / 1_000} s; ${state()}`)),
      timeoutMs,
    );
    check();
    return promise.finally(() => {
      clearTimeout(timer);
      subscription[Symbol.dispose]();
    });
  }
}

/** A limit as a number: a field that also takes percentages has the type string. */
export const count = (number: number): string => number as unknown as string; // the API server stores numbers

/** A template with one setting. */
export const template = (value: string) => ({
  version: '1.0',
  settingsFlow: [{ name: 'boot', priority: 1, settings: { Boot: value } }],
});

/** The environments of one test file, in sequence on one API server. */
export function setsEnvsOfFile(after: (end: () => Promise<void>) => void): () => Promise<SetsEnv> {
  const cluster = openCluster();
  after(async () => (await cluster)[Symbol.asyncDispose]());
  return async () => SetsEnv.start(await cluster);
}
