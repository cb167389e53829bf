import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { randomFrom } from '@metal/kube/test/seeded-random.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { bootstrapAnnotationOf, isHeldBack, isSubject, unmetCondition } from './readiness.ts';
import { ReadinessSummary } from './readiness-summary.ts';
import { byName } from '@metal/kube/runtime/sorted-names.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const seedCount = Number(process.env.METAL_SEEDS ?? 20);
const changesPerSeed = 300;
const serverNames = Array.from({ length: 12 }, (_, index) => `s-${index}`);
const ruleNames = ['fit', 'once', 'broad'];
const racks = ['one', 'two', 'three'];
const deletedAt = '2026-01-01T00:00:00Z';

/** Servers and rules under random changes that concern readiness. */
class World implements Disposable {
  readonly servers = new Store<Server>();
  readonly rules = new Store<ServerReadinessRule>();
  readonly summary = new ReadinessSummary({ servers: this.servers, readinessRules: this.rules });
  /** Rules that were notified since the last read. */
  readonly #changed = new Set<string>();
  readonly #random: () => number;
  readonly #stack = new DisposableStack();
  #version = 0;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    // Some objects exist before the summary is started.
    for (const name of serverNames.slice(0, 6)) this.#makeServer(name);
    this.#makeRule('fit');
    this.#stack.use(this.summary.start());
    this.#stack.use(this.summary.changed.on((rule) => this.#changed.add(rule)));
  }

  [Symbol.dispose](): void {
    this.#stack.dispose();
  }

  get kept(): Record<string, unknown> {
    const kept = [...this.rules.all()].map((rule) => {
      const { selected, heldBack } = this.summary.of(rule);
      return [rule.metadata.name, { selected, heldBack: heldBack.first(heldBack.size) }];
    });
    return Object.fromEntries(kept);
  }

  get recounted(): Record<string, unknown> {
    return Object.fromEntries([...this.rules.all()].map((rule) => [rule.metadata.name, this.#count(rule)]));
  }

  /** The reports of the rules. */
  get reports(): Map<string, string> {
    return new Map([...this.rules.all()].map((rule) => [rule.metadata.name, JSON.stringify(this.#report(rule))]));
  }

  /** Changes a server; returns the rules that were notified. */
  changeServer(): ReadonlySet<string> {
    this.#changed.clear();
    this.#pick(this.#ofServers)();
    return new Set(this.#changed);
  }

  changeRule(): void {
    this.#pick(this.#ofRules)();
  }

  get chance(): number {
    return this.#random();
  }

  #count(rule: ServerReadinessRule): { selected: number; heldBack: string[] } {
    const servers = [...this.servers.all()].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const heldBack = servers.filter((server) => isHeldBack(server, rule)).map(({ metadata }) => metadata.name);
    return {
      selected: servers.filter((server) => isSubject(server, rule)).length,
      heldBack: heldBack.toSorted(byName),
    };
  }

  #report(rule: ServerReadinessRule): unknown {
    const { selected, heldBack } = this.#count(rule);
    const unmet = (name: string) => {
      const server = this.servers.get(name);
      return server && unmetCondition(server, rule);
    };
    return [selected, heldBack.map((name) => [name, unmet(name)])];
  }

  readonly #ofServers: readonly (() => void)[] = [
    () => this.#makeServer(this.#pick(serverNames)),
    () => this.#server(({ metadata }) => this.servers.removeByUid(metadata.name, metadata.uid)),
    () => this.#server((server) => this.#change(server, { labels: { rack: this.#pick(racks) } })),
    () => this.#server((server) => this.#change(server, { deletionTimestamp: deletedAt })),
    () => this.#server((server) => this.#change(server, { annotations: this.#bootstrapped() })),
    () => this.#server((server) => this.#put(this.servers, { ...server, status: { conditions: this.#conditions() } })),
    () => this.#server((server) => this.#put(this.servers, { ...server, status: { conditions: this.#conditions() } })),
    () =>
      this.#server((server) => this.#put(this.servers, { ...server, status: { ...server.status, powerState: 'On' } })),
  ];

  readonly #ofRules: readonly (() => void)[] = [
    () => this.#makeRule(this.#pick(ruleNames)),
    () => this.#rule(({ metadata }) => this.rules.removeByUid(metadata.name, metadata.uid)),
    () =>
      this.#rule((rule) =>
        this.#put(this.rules, { ...rule, metadata: { ...rule.metadata, deletionTimestamp: deletedAt } }),
      ),
    () => this.#rule((rule) => this.#put(this.rules, { ...rule, status: { conditions: [] } })),
  ];

  #makeServer(name: string): void {
    const metadata = { name, uid: `${name}-${this.#version}`, labels: { rack: this.#pick(racks) } };
    const status = { conditions: this.#conditions() };
    this.#put(this.servers, { apiVersion, kind: 'Server', metadata, spec: { systemUUID: name }, status });
  }

  #makeRule(name: string): void {
    this.#put(this.rules, {
      apiVersion,
      kind: 'ServerReadinessRule',
      metadata: { name, uid: `${name}-${this.#version}` },
      spec: {
        serverSelector: this.#pick([{}, { matchLabels: { rack: this.#pick(racks) } }]),
        taint: { key: 'k', effect: 'NoBind' },
        conditions: [
          { type: 'Fit', requiredStatus: 'True' },
          { type: this.#pick(['Fit', 'Burnt']), requiredStatus: this.#pick(['True', 'False'] as const) },
        ],
        enforcementMode: this.#pick(['Continuous', 'BootstrapOnly'] as const),
      },
    });
  }

  #conditions(): NonNullable<NonNullable<Server['status']>['conditions']> {
    return ['Fit', 'Burnt'].flatMap((type) => {
      const status = this.#pick(['True', 'True', 'False', undefined] as const);
      return status ? [{ type, status, reason: 'Looked', message: '', lastTransitionTime: deletedAt }] : [];
    });
  }

  #bootstrapped(): Record<string, string> {
    const name = this.#pick(ruleNames);
    return { [bootstrapAnnotationOf(name)]: this.#pick(['true', 'another', this.rules.get(name)?.metadata.uid ?? '']) };
  }

  #change(server: Server, metadata: Partial<Server['metadata']>): void {
    this.#put(this.servers, { ...server, metadata: { ...server.metadata, ...metadata } });
  }

  #server(act: (server: Server) => void): void {
    const server = this.servers.get(this.#pick(serverNames));
    if (server !== undefined) act(server);
  }

  #rule(act: (rule: ServerReadinessRule) => void): void {
    const rule = this.rules.get(this.#pick(ruleNames));
    if (rule !== undefined) act(rule);
  }

  #put<T extends KubeObject>(store: Store<T>, object: T): void {
    this.#version += 1;
    store.upsertIfNewer({ ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } });
  }

  #pick<T>(from: readonly T[]): T {
    const one = from[Math.floor(this.#random() * from.length)];
    assert.ok(one !== undefined || from.some((other) => other === undefined));
    return one as T; // an element of the list
  }
}

test('the summary of each rule equals a recount after random changes, and each changed rule is notified', () => {
  for (let seed = 1; seed <= seedCount; seed += 1) {
    using world = new World(seed);
    assert.deepEqual(world.kept, world.recounted, `seed ${seed}, at the start`);
    for (let step = 0; step < changesPerSeed; step += 1) {
      if (world.chance < 0.1) world.changeRule();
      const before = world.reports;
      const changedRules = world.changeServer();
      assert.deepEqual(world.kept, world.recounted, `seed ${seed}, step ${step}`);
      for (const [rule, report] of world.reports)
        assert.ok(before.get(rule) === report || changedRules.has(rule), `seed ${seed}, step ${step}: ${rule}`);
    }
  }
});

test('a rule is not notified when a server changes in unrelated fields', () => {
  using world = new World(1);
  const changedRules: string[] = [];
  using _subscription = world.summary.changed.on((rule) => changedRules.push(rule));
  for (const server of world.servers.all())
    world.servers.upsertIfNewer({
      ...server,
      metadata: { ...server.metadata, resourceVersion: '1000' },
      status: { ...server.status, powerState: 'On' },
    });
  assert.deepEqual(changedRules, []);
});

test('a change of one server, or of the status of a rule, reads no other server', ({ mock }) => {
  using world = new World(1);
  const reads = [mock.method(world.servers, 'all'), mock.method(world.servers, 'get')];
  const [server, rule] = [[...world.servers.all()][0], [...world.rules.all()][0]];
  assert.ok(server && rule);
  reads.forEach((read) => read.mock.resetCalls());
  const later = { resourceVersion: '1000' };
  world.servers.upsertIfNewer({ ...server, metadata: { ...server.metadata, ...later }, status: {} });
  world.rules.upsertIfNewer({ ...rule, metadata: { ...rule.metadata, ...later }, status: { conditions: [] } });
  assert.deepEqual(
    reads.map((read) => read.mock.callCount()),
    [0, 0],
  );
});
