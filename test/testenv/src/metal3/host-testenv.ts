import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { createKubeClient } from '@metal/kube/client/client.ts';
import { Event, Secret } from '@metal/kube/kinds/builtin.ts';
import type { Kind, KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { type Metal3Caches, watchMetal3Kinds } from '@metal/metal3/caches.ts';
import { type Metal3Options, type RunningMetal3, startMetal3 } from '@metal/metal3/metal3.ts';
import { readMetal3Config } from '@metal/metal3/options.ts';
import type { BackEnd } from '@metal/metal3/provisioner/back-end.ts';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { type Cluster, openCluster, startCluster } from '../cluster/cluster.ts';
import { createTestClient } from '../cluster/late-watches.ts';
import { FixtureBackEnd } from './fixture-back-end.ts';
import { ObjectsOfKind } from '../cluster/objects-of-kind.ts';
import { scaledClock } from '../operator/scaled-clock.ts';
import { Timeline } from '../cluster/timeline.ts';
import { untilChanged } from '../cluster/watched-object.ts';

export interface HostTestenvOptions {
  readonly speed?: number;
  readonly operationMs?: number;
  readonly timeoutMs?: number;
  /** Opens its API server. Default: one of the pool. */
  readonly open?: () => Promise<Cluster>;
}

interface HostTestenvParts {
  readonly client: KubeClient;
  readonly kubeconfigPath: string;
  readonly caches: Metal3Caches;
  readonly events: Cache<Event>;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly operationMs: number;
}

/** The controllers of Metal3 on a real API server, with a back end in memory. */
export class HostTestenv implements AsyncDisposable {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly caches: Metal3Caches;
  readonly backEnd: FixtureBackEnd;
  readonly hosts: ObjectsOfKind<BareMetalHost>;
  readonly events: ObjectsOfKind<Event>;
  readonly #timeline: Timeline;
  readonly #kubeconfigPath: string;
  readonly #stack: AsyncDisposableStack;
  readonly #running: AsyncDisposable[] = [];
  metrics = new Registry();

  constructor(parts: HostTestenvParts, stack: AsyncDisposableStack) {
    const { client, caches, clock, events, timeoutMs } = parts;
    const timeline = new Timeline({ hosts: caches.hosts, events }, timeoutMs);
    timeline.start();
    const phase = ({ status }: BareMetalHost) => status?.provisioning.state;
    this.client = client;
    this.clock = clock;
    this.caches = caches;
    this.backEnd = new FixtureBackEnd(parts);
    this.hosts = new ObjectsOfKind({ kind: BareMetalHost, cache: caches.hosts, client, timeline, phase });
    this.events = new ObjectsOfKind({ kind: Event, cache: events, client, timeline });
    this.#timeline = timeline;
    this.#kubeconfigPath = parts.kubeconfigPath;
    this.#stack = stack;
  }

  /** Starts the controllers, with memory and caches of their own. Disposing the result stops these controllers only. */
  async start(
    flags: Readonly<Record<string, string>> = {},
    { leaderElection, clientOf = (client) => client, backEnd = this.backEnd }: StartOptions = {},
  ): Promise<RunningMetal3> {
    const { clock } = this;
    const stack = new AsyncDisposableStack();
    const client = clientOf(stack.use(createKubeClient({ kubeconfigPath: this.#kubeconfigPath })));
    const log = pino({ level: process.env.TESTENV_LOG ?? 'silent' }, process.stderr);
    const cacheSet = new CacheSet({ client, clock, log });
    stack.defer(() => cacheSet.stop());
    this.metrics = new Registry();
    const running = stack.use(
      startMetal3({
        config: readMetal3Config(flags, {}),
        client,
        cacheSet,
        caches: watchMetal3Kinds(cacheSet),
        backEnds: { [backEnd.name]: backEnd },
        leaderElection,
        clock,
        random: () => 0,
        log,
        metrics: this.metrics,
      }),
    );
    this.#running.push(stack);
    return { stopped: running.stopped, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((running) => running[Symbol.asyncDispose]()));
  }

  /** The objects of another kind. */
  objects<T extends KubeObject>(kind: Kind<T>, cache: Cache<T>): ObjectsOfKind<T> {
    return new ObjectsOfKind({ kind, cache, client: this.client, timeline: this.#timeline });
  }

  /** Creates a host with its Secret. */
  async host(name: string, { spec, metadata }: HostText = {}): Promise<BareMetalHost> {
    await this.secret(`${name}-bmc`, { username: 'root', password: 'good' });
    const bmc = { address: `redfish://192.0.2.1/redfish/v1/Systems/${name}`, credentialsName: `${name}-bmc` };
    return this.client.create(BareMetalHost, {
      metadata: { name, namespace: 'default', ...metadata },
      spec: { online: true, automatedCleaningMode: 'metadata', bmc, ...spec },
    });
  }

  secret(name: string, texts: Readonly<Record<string, string>>, namespace = 'default'): Promise<Secret> {
    const data = Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    );
    return this.client.create(Secret, { metadata: { name, namespace }, data });
  }

  /** Resolves once there are events about the object for these reasons: the controllers record them after the status. */
  async hasEvents(name: string, ...reasons: readonly string[]): Promise<void> {
    const missing = () => {
      const about = [...this.events.all()].filter(({ regarding }) => regarding.name === name);
      return new Set(reasons).difference(new Set(about.map(({ reason }) => reason)));
    };
    await untilChanged(
      `events about ${name}`,
      `all of ${reasons.join(', ')}`,
      () => missing().size === 0,
      (check) => this.events.onChange(check),
      this.#timeline,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#stack.disposeAsync();
  }
}

/** What differs from one process that works alone on the fixture back end. */
export interface StartOptions {
  readonly leaderElection?: Metal3Options['leaderElection'];
  readonly clientOf?: (client: KubeClient) => KubeClient;
  readonly backEnd?: BackEnd;
}

export interface HostText {
  readonly spec?: Partial<BareMetalHost['spec']>;
  readonly metadata?: Partial<BareMetalHost['metadata']>;
}

/** Opens an API server without the admission rules of Metal3: they refuse what some tests prove of the controllers. */
export const withoutAdmission = (): Promise<Cluster> => startCluster({ admission: false });

/** An API server without an operator. The controllers are started by the test. */
export async function startHostTestenv(options: HostTestenvOptions = {}): Promise<HostTestenv> {
  const { speed = 100, operationMs = 2_000, timeoutMs = 30_000, open = openCluster } = options;
  await using stack = new AsyncDisposableStack();
  const clock = stack.use(scaledClock(speed));
  const { kubeconfigPath } = stack.use(await open());
  const client = stack.use(createTestClient({ kubeconfigPath, defaultFieldManager: 'testenv' }));
  const cacheSet = new CacheSet({ client, clock, log: pino({ level: 'silent' }) });
  const caches = watchMetal3Kinds(cacheSet);
  const events = cacheSet.watch<Event>(Event);
  stack.defer(() => cacheSet.stop());
  await cacheSet.start(new AbortController().signal);
  const owned = stack.move();
  return new HostTestenv({ client, kubeconfigPath, caches, events, clock, timeoutMs, operationMs }, owned);
}
