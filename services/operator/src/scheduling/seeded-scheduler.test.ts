import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextPass } from 'node:timers/promises';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { keyOf, type KubeObject } from '@metal/kube/kinds/kind.ts';
import { randomFrom } from '@metal/kube/test/seeded-random.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { rejectionReason } from './eligibility.ts';
import { ClaimScheduler, type SchedulerOptions } from './scheduler.ts';

const seedCount = Number(process.env.METAL_SEEDS ?? 20) * 5;
const firstSeed = Number(process.env.METAL_FIRST_SEED ?? 1);
const stepsPerSeed = 120;
const apiVersion = 'metal.ironcore.dev/v1alpha1';
const namesOf = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);

/** Numbers of objects in one run. */
interface Size {
  readonly claims: readonly string[];
  readonly servers: readonly string[];
  readonly racks: readonly string[];
}
const few: Size = { claims: namesOf('c', 6), servers: namesOf('s', 5), racks: ['one', 'two'] };
/** More claims than servers, and many claims without a match. */
const many: Size = { claims: namesOf('c', 30), servers: namesOf('s', 11), racks: namesOf('rack-', 6) };
const nowhere = 'nowhere';

/** Claims and servers under random changes. */
class World implements Disposable {
  readonly #size: Size;
  /** Number of passes until all is assigned: with one evaluation each, a pass handles one claim. */
  readonly #passes: number;
  readonly #random: () => number;
  readonly #servers = new Store<Server>();
  readonly #claims = new Store<ServerClaim>();
  readonly #rules = new Store<ServerReadinessRule>();
  readonly #clock = fakeClock();
  readonly #scheduler: ClaimScheduler;
  readonly #started: Disposable;
  #version = 0;
  /** The mutations so far. */
  readonly history: string[] = [];
  /** Expected server by claim, from comparing every claim with every server each time. */
  readonly #expected = new Map<string, string>();

  constructor(seed: number, { size, ...options }: SchedulerOptions & { size: Size }) {
    this.#random = randomFrom(seed);
    this.#size = size;
    this.#passes = options.evaluationsPerPass === undefined ? 1 : size.claims.length + size.servers.length;
    this.#servers.addIndexes({
      claim: ({ spec }) => (spec.serverClaimRef ? [keyOf(spec.serverClaimRef)] : []),
      uuid: ({ spec }) => [spec.systemUUID.toLowerCase()],
    });
    const caches = { servers: this.#servers, claims: this.#claims, readinessRules: this.#rules };
    this.#scheduler = new ClaimScheduler(caches, this.#clock, options);
    this.#started = this.#scheduler.start();
  }

  [Symbol.dispose](): void {
    this.#started[Symbol.dispose]();
  }

  /** Without bind failures no server is stale, and without an in-flight limit no claim waits: each claim gets its server at once. */
  async run(steps: number, { withBindFailures }: { withBindFailures: boolean }): Promise<void> {
    const mutations = Object.entries(this.#mutations).filter(
      ([name]) => withBindFailures || name !== 'a binding fails',
    );
    for (let step = 0; step < steps; step += 1) {
      // One pass handles several changes.
      for (let count = this.#chance(0.2) ? 3 : 1; count > 0; count -= 1) {
        const [name, mutate] = this.#pick(mutations);
        this.history.push(name);
        mutate();
        this.#forgetExpected();
      }
      await (withBindFailures ? nextPass() : this.#finishPasses());
      this.#assertAssumedOnce();
      if (withBindFailures) continue;
      assert.deepEqual(this.starvedClaims, []);
      this.#assumeExpected();
      assert.deepEqual(this.#assumed, Object.fromEntries(this.#expected));
    }
  }

  /** No claim is in flight and no server stale any more. */
  async quiesce(): Promise<void> {
    for (let count = 0; count < this.#size.claims.length; count += 1) {
      this.#clock.advance(seconds(30));
      await this.#finishPasses();
    }
  }

  async #finishPasses(): Promise<void> {
    for (let pass = 0; pass < this.#passes; pass += 1) await nextPass();
  }

  /** Pending claims for which a matching server is free. */
  get starvedClaims(): string[] {
    const assumed = new Set(
      [...this.#claims.all()].map((claim) => this.#scheduler.assumedBindingOf(claim)?.metadata.name),
    );
    const rules = [...this.#rules.all()];
    return [...this.#claims.all()]
      .filter((claim) => this.#isPending(claim) && this.#scheduler.assumedBindingOf(claim) === undefined)
      .filter((claim) =>
        [...this.#servers.all()].some(
          (server) => !assumed.has(server.metadata.name) && rejectionReason(server, claim, rules) === undefined,
        ),
      )
      .map(keyOf);
  }

  get #assumed(): Record<string, string> {
    const assumed = [...this.#claims.all()].map((claim) => [claim, this.#scheduler.assumedBindingOf(claim)] as const);
    return Object.fromEntries(
      assumed.flatMap(([claim, server]) => (server ? [[keyOf(claim), server.metadata.name]] : [])),
    );
  }

  /** Drops assumed bindings that are no longer valid. */
  #forgetExpected(): void {
    for (const [claimKey, serverName] of this.#expected) {
      const [claim, server] = [this.#claims.get(claimKey), this.#servers.get(serverName)];
      const isValid =
        claim && server && this.#isPending(claim) && rejectionReason(server, claim, this.#rules.all()) === undefined;
      if (isValid !== true) this.#expected.delete(claimKey);
    }
  }

  /** Oldest claim first, lowest server name first, without in-flight limit and stale servers. */
  #assumeExpected(): void {
    const byAge = [...this.#claims.all()].toSorted(
      (a, b) =>
        (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '') ||
        keyOf(a).localeCompare(keyOf(b)),
    );
    for (const claim of byAge.filter((one) => this.#isPending(one) && !this.#expected.has(keyOf(one)))) {
      const assumed = new Set(this.#expected.values());
      const server = this.#size.servers.find((name) => {
        const candidate = assumed.has(name) ? undefined : this.#servers.get(name);
        return candidate !== undefined && rejectionReason(candidate, claim, this.#rules.all()) === undefined;
      });
      if (server !== undefined) this.#expected.set(keyOf(claim), server);
    }
  }

  #assertAssumedOnce(): void {
    const claimOf = new Map<string, string>();
    for (const claim of this.#claims.all()) {
      const server = this.#scheduler.assumedBindingOf(claim);
      if (server === undefined) continue;
      const { name } = server.metadata;
      assert.equal(claimOf.get(name), undefined, `${name} is assigned twice`);
      claimOf.set(name, keyOf(claim));
      assert.ok(this.#isPending(claim), `${keyOf(claim)} has ${name} and is not pending`);
      assert.equal(rejectionReason(server, claim, this.#rules.all()), undefined, `${name} was assigned`);
    }
  }

  #isPending({ metadata, status }: ServerClaim): boolean {
    if (metadata.deletionTimestamp !== undefined || metadata.annotations !== undefined) return false;
    const holders = this.#servers.by('claim', keyOf({ metadata }));
    return status?.phase === undefined && holders.every(({ spec }) => spec.serverClaimRef?.uid !== metadata.uid);
  }

  readonly #mutations: Readonly<Record<string, () => void>> = {
    'a claim is created': () => this.#makeClaim(this.#pick(this.#size.claims)),
    'a claim is removed': () =>
      this.#anyClaim((claim) => this.#claims.removeByUid(keyOf(claim), claim.metadata.uid ?? '')),
    'a claim is being deleted': () =>
      this.#claim(({ metadata }) => ({ metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })),
    'a claim is paused or resumed': () =>
      this.#claim(({ metadata: { annotations, ...metadata } }) => ({
        metadata: annotations ? metadata : { ...metadata, annotations: { 'metal.ironcore.dev/operation': 'ignore' } },
      })),
    'a claim changes its phase': () =>
      this.#claim(({ status }) => (status ? { status: {} } : { status: { phase: this.#pick(['Bound', 'Lost']) } })),
    'a claim tolerates more or less': () =>
      this.#claim(({ spec: { tolerations, ...spec } }) => ({
        spec: tolerations ? spec : { ...spec, tolerations: [{ key: 'k', operator: 'Exists' }] },
      })),
    'a binding succeeds': () => this.#bind(),
    'two bindings succeed': () => (this.#bind(), this.#bind()),
    'a binding fails': () =>
      this.#anyClaim((claim) => {
        const server = this.#scheduler.assumedBindingOf(claim);
        if (server !== undefined) this.#scheduler.bindFailed(keyOf(claim), server);
      }),
    'a server is created': () => this.#makeServer(this.#pick(this.#size.servers)),
    'a server is removed': () =>
      this.#anyServer(({ metadata }) => this.#servers.removeByUid(metadata.name, metadata.uid ?? '')),
    'a server changes its rack': () =>
      this.#server(({ metadata }) => ({ metadata: { ...metadata, labels: { rack: this.#pick(this.#size.racks) } } })),
    'a server is tainted or not': () =>
      this.#server(({ spec: { taints, ...spec } }) => ({
        spec: taints ? spec : { ...spec, taints: [{ key: 'k', effect: 'NoBind' }] },
      })),
    'a server is cordoned or not': () =>
      this.#server(({ spec }) => ({ spec: { ...spec, unclaimable: !spec.unclaimable } })),
    'a server enters another state': () =>
      this.#server(({ status }) => ({
        status: { ...status, state: this.#pick(['Available', 'Available', 'Reserved', 'Initial']) },
      })),
    'a server is powered on or off': () =>
      this.#server(({ status }) => ({ status: { ...status, powerState: this.#pick(['Off', 'Off', 'On']) } })),
    'a server is released': () =>
      this.#server(({ spec }) => {
        const { serverClaimRef, ...given } = spec;
        return { spec: serverClaimRef === undefined ? spec : given };
      }),
    'a server is bound by hand': () =>
      this.#server(({ spec }) => ({
        spec: { ...spec, serverClaimRef: { namespace: 'team', name: this.#pick(this.#size.claims), uid: 'another' } },
      })),
    'a server is fit or ready, or not': () =>
      this.#server(({ status }) => ({
        status: {
          ...status,
          conditions: ['Fit', 'Ready'].map((type) => ({
            type,
            status: this.#pick(['True', 'True', 'False']),
            reason: 'Observed',
            message: '',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          })),
        },
      })),
    'a rule is created': () => this.#makeRule(),
    'rules are deleted': () =>
      [...this.#rules.all()].forEach(({ metadata }) => this.#rules.removeByUid(metadata.name, metadata.uid ?? '')),
    'time passes': () => this.#clock.advance(seconds(this.#pick([1, 5, 10, 31]))),
  };

  #makeClaim(name: string): void {
    const [rack, other] = [this.#pick(this.#size.racks), this.#pick(this.#size.racks)];
    const constraints = this.#pick([
      {},
      { serverRef: { name: this.#pick(this.#size.servers) } },
      { serverSelector: { matchLabels: { rack } } },
      { serverSelector: { matchLabels: { rack } }, tolerations: [{ key: 'k', operator: 'Exists' as const }] },
      { serverSelector: { matchExpressions: [{ key: 'rack', operator: 'In', values: [rack, other] }] } },
      { serverSelector: { matchExpressions: [{ key: 'rack', operator: 'NotIn', values: [rack] }] } },
      { serverSelector: { matchLabels: { rack: this.#pick([nowhere, `${nowhere}-else`]) } } },
    ]);
    const creationTimestamp = `2026-01-01T00:00:${10 + Math.floor(this.#random() * 50)}Z`;
    this.#put(this.#claims, {
      apiVersion,
      kind: 'ServerClaim',
      metadata: { name, namespace: 'team', uid: `${name}-${this.#version}`, creationTimestamp },
      spec: { power: 'On', image: 'os', ...constraints },
    });
  }

  #makeServer(name: string): void {
    if (this.#servers.get(name) !== undefined) return;
    this.#put(this.#servers, {
      apiVersion,
      kind: 'Server',
      metadata: { name, uid: `${name}-${this.#version}`, labels: { rack: this.#pick(this.#size.racks) } },
      spec: { systemUUID: name, reclaimPolicy: 'Recycle', unclaimable: false },
      status: { state: 'Available', powerState: 'Off' },
    });
  }

  #makeRule(): void {
    this.#put(this.#rules, {
      apiVersion,
      kind: 'ServerReadinessRule',
      metadata: { name: 'fit', uid: `fit-${this.#version}` },
      spec: {
        serverSelector: { matchLabels: { rack: this.#pick(this.#size.racks) } },
        taint: { key: 'k', effect: 'NoBind' },
        conditions: [{ type: 'Fit', requiredStatus: 'True' }],
        enforcementMode: 'Continuous',
      },
    });
  }

  #bind(): void {
    this.#anyClaim((claim) => {
      const server = this.#scheduler.assumedBindingOf(claim);
      const { name, uid } = claim.metadata;
      if (server === undefined) return;
      const serverClaimRef = { namespace: 'team', name, ...(uid === undefined ? {} : { uid }) };
      this.#put(this.#servers, { ...server, spec: { ...server.spec, serverClaimRef } });
    });
  }

  #claim(change: (claim: ServerClaim) => Partial<ServerClaim>): void {
    this.#anyClaim((claim) => this.#put(this.#claims, { ...claim, ...change(claim) }));
  }

  #server(change: (server: Server) => Partial<Server>): void {
    this.#anyServer((server) => this.#put(this.#servers, { ...server, ...change(server) }));
  }

  #anyClaim(act: (claim: ServerClaim) => void): void {
    const claim = this.#claims.get(`team/${this.#pick(this.#size.claims)}`);
    if (claim !== undefined) act(claim);
  }

  #anyServer(act: (server: Server) => void): void {
    const server = this.#servers.get(this.#pick(this.#size.servers));
    if (server !== undefined) act(server);
  }

  #put<T extends KubeObject>(store: Store<T>, object: T): void {
    this.#version += 1;
    store.upsertIfNewer({ ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } });
  }

  #chance(part: number): boolean {
    return this.#random() < part;
  }

  #pick<T>(from: readonly T[]): T {
    const one = from[Math.floor(this.#random() * from.length)];
    assert.ok(one !== undefined);
    return one;
  }
}

const all = { maxInFlight: 1_000 };
/** Changes come between any two passes. */
const manyPasses = { evaluationsPerPass: 1 };

for (const [withBindFailures, options, what] of [
  [false, { ...all, size: few }, 'with room for all'],
  [false, { ...all, size: many }, 'with many claims without a match'],
  [false, { ...all, ...manyPasses, size: many }, 'with many claims without a match, in many passes'],
  [true, { maxInFlight: 2, size: few }, 'with two in flight and bind failures'],
  [true, { maxInFlight: 4, size: many }, 'with many claims, four in flight and bind failures'],
  [true, { maxInFlight: 4, ...manyPasses, size: many }, 'with many claims, many passes and bind failures'],
] as const) {
  test(`random changes ${what}: no server is assigned twice, and no claim starves`, async () => {
    for (let seed = firstSeed; seed < firstSeed + seedCount; seed += 1) {
      using world = new World(seed, options);
      const describeRun = () => `seed ${seed}, after: ${world.history.slice(-4).join(', ')}`;
      await world
        .run(stepsPerSeed, { withBindFailures })
        .catch((error: unknown) => assert.fail(`${describeRun()}: ${String(error)}`));
      await world.quiesce();
      assert.deepEqual(world.starvedClaims, [], describeRun());
    }
  });
}
