import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextPass } from 'node:timers/promises';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { rejectionReason } from './eligibility.ts';
import { matches } from '@metal/api/common/label-selector.ts';
import { ClaimScheduler, type SchedulerOptions } from './scheduler.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const server = (
  name: string,
  spec: Partial<Server['spec']> = {},
  labels: Record<string, string> = {},
  status: Server['status'] = { state: 'Available', powerState: 'Off' },
): Server => ({
  apiVersion,
  kind: 'Server',
  metadata: { name, labels },
  spec: { systemUUID: name, reclaimPolicy: 'Recycle', unclaimable: false, ...spec },
  status,
});
const free = { state: 'Available', powerState: 'Off' };
const conditionOf = (type: string, status: 'True' | 'False' | 'Unknown') => ({
  type,
  status,
  reason: 'Observed',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const claim = (
  name: string,
  spec: Partial<ServerClaim['spec']> = {},
  createdAt = '2026-01-01T00:00:00Z',
): ServerClaim => ({
  apiVersion,
  kind: 'ServerClaim',
  metadata: { name, namespace: 'team', creationTimestamp: createdAt },
  spec: { power: 'On', image: 'os', ...spec },
});
/** Claims with their servers, in the order of the assignments. */
async function pairs(claims: readonly ServerClaim[], servers: readonly Server[]): Promise<string[]> {
  const { scheduler, started, assumedClaims, ...apply } = openScheduler();
  using _started = started;
  servers.forEach(apply.server);
  claims.forEach(apply.claim);
  await nextPass();
  const serverOf = new Map(
    claims.map((pendingClaim) => [keyOf(pendingClaim), scheduler.assumedBindingOf(pendingClaim)?.metadata.name]),
  );
  return assumedClaims.map((claimKey) => `${claimKey.replace('team/', '')}=${serverOf.get(claimKey) ?? ''}`);
}

test('the oldest claim chooses first, and takes the first server', async () => {
  const claims = [claim('young', {}, '2026-01-02T00:00:00Z'), claim('old', {}, '2026-01-01T00:00:00Z')];
  assert.deepEqual(await pairs(claims, [server('b-10'), server('b-9')]), ['old=b-9', 'young=b-10']);
});

test('a claim without a matching server does not block younger claims', async () => {
  const picky = claim('a', { serverSelector: { matchLabels: { gpu: 'yes' } } });
  assert.deepEqual(await pairs([picky, claim('b')], [server('one')]), ['b=one']);
});

test('a server whose BMC does not answer is passed over, and assigned as soon as it answers', async () => {
  const queue = openScheduler();
  using _started = queue.started;
  const withBmc = (name: string, status: 'True' | 'False') =>
    server(name, {}, {}, { ...free, conditions: [conditionOf('BMCReachable', status), conditionOf('Ready', status)] });
  for (const name of ['a', 'b', 'c']) queue.server(withBmc(name, 'False'));
  queue.server(withBmc('z', 'True'));
  const [first, second] = [claim('first'), claim('second')];
  queue.claim(first);
  queue.claim(second);
  await nextPass();
  assert.equal(queue.scheduler.assumedBindingOf(first)?.metadata.name, 'z');
  assert.match(queue.scheduler.explain(second), /looked at 4 servers: 3 BMCNotReady, 1 PromisedToAnOlderClaim/);
  const named = claim('named', { serverRef: { name: 'b' } });
  queue.claim(named);
  assert.match(queue.scheduler.explain(named), /server "b" of spec.serverRef: BMCNotReady; its BMC cannot be used/);
  assert.deepEqual(
    [named, second].map((each) => queue.scheduler.unreadyReasonOf(each)),
    ['BMCNotReady', undefined],
  );

  queue.server(withBmc('c', 'True'));
  await nextPass();
  assert.equal(queue.scheduler.assumedBindingOf(second)?.metadata.name, 'c');
});

test('no server is assigned twice', async () => {
  const claims = Array.from({ length: 100 }, (_, index) => claim(`claim-${index}`));
  const servers = Array.from({ length: 50 }, (_, index) => server(`server-${index}`));
  const given = await pairs(claims, servers);
  assert.equal(given.length, 50);
  assert.equal(new Set(given.map((pair) => pair.split('=')[1])).size, 50);
});

const rejections: [
  what: string,
  candidate: Server,
  constraints: Partial<ServerClaim['spec']>,
  rejection: string | undefined,
][] = [
  ['a free server', server('s'), {}, undefined],
  ['another server than the named one', server('s'), { serverRef: { name: 't' } }, 'NotTheNamedServer'],
  ['the named server', server('s'), { serverRef: { name: 's' } }, undefined],
  [
    'the named server with other labels',
    server('s'),
    { serverRef: { name: 's' }, serverSelector: { matchLabels: { a: 'b' } } },
    'LabelsDoNotMatch',
  ],
  ['a claimed server', server('s', { serverClaimRef: { namespace: 'x', name: 'y' } }), {}, 'ClaimedByAnother'],
  ['a cordoned server', server('s', { unclaimable: true }), {}, 'Cordoned'],
  [
    'a server in maintenance',
    server('s', { serverMaintenanceRef: { namespace: 'x', name: 'y' } }),
    {},
    'InMaintenance',
  ],
  [
    'a server that is not Available',
    server('s', {}, {}, { state: 'Discovery', powerState: 'Off' }),
    {},
    'StateDiscovery',
  ],
  ['a server that is not off yet', server('s', {}, {}, { state: 'Available', powerState: 'On' }), {}, 'NotYetOff'],
  [
    'a server whose BMC does not answer',
    server('s', {}, {}, { ...free, conditions: [conditionOf('BMCReachable', 'False'), conditionOf('Ready', 'False')] }),
    {},
    'BMCNotReady',
  ],
  [
    'a server that is not ready',
    server(
      's',
      {},
      {},
      { ...free, conditions: [conditionOf('BMCReachable', 'True'), conditionOf('Ready', 'Unknown')] },
    ),
    {},
    'ServerNotReady',
  ],
  [
    'a server that is ready',
    server('s', {}, {}, { ...free, conditions: [conditionOf('BMCReachable', 'True'), conditionOf('Ready', 'True')] }),
    {},
    undefined,
  ],
  ['a tainted server', server('s', { taints: [{ key: 'k', effect: 'NoBind' }] }), {}, 'Tainted(k)'],
  ['a taint that evicts', server('s', { taints: [{ key: 'k', effect: 'Evict' }] }), {}, 'Tainted(k)'],
  [
    'a tolerated taint',
    server('s', { taints: [{ key: 'k', value: 'v', effect: 'NoBind' }] }),
    { tolerations: [{ key: 'k', value: 'v' }] },
    undefined,
  ],
  [
    'a taint of another value',
    server('s', { taints: [{ key: 'k', value: 'v', effect: 'NoBind' }] }),
    { tolerations: [{ key: 'k', value: 'w' }] },
    'Tainted(k)',
  ],
  [
    'a taint tolerated whatever its value',
    server('s', { taints: [{ key: 'k', value: 'v', effect: 'NoBind' }] }),
    { tolerations: [{ key: 'k', operator: 'Exists' }] },
    undefined,
  ],
  [
    'a taint of another effect than tolerated',
    server('s', { taints: [{ key: 'k', effect: 'NoBind' }] }),
    { tolerations: [{ key: 'k', operator: 'Exists', effect: 'Evict' }] },
    'Tainted(k)',
  ],
];
for (const [what, candidate, constraints, rejection] of rejections) {
  test(`${what} ${rejection === undefined ? 'is eligible' : `is rejected as ${rejection}`}`, () => {
    assert.equal(rejectionReason(candidate, claim('c', constraints), []), rejection);
  });
}

test('selectors follow the rules of Kubernetes', () => {
  const labels = { rack: 'r1' };
  assert.equal(matches({}, labels), true);
  for (const [operator, values, expected] of [
    ['In', ['r1', 'r2'], true],
    ['In', ['r2'], false],
    ['NotIn', ['r2'], true],
    ['NotIn', ['r1'], false],
    ['Exists', undefined, true],
    ['DoesNotExist', undefined, false],
    ['Nonsense', undefined, false],
    ['In', undefined, false],
    ['NotIn', [], false],
    ['NotIn', ['no label value'], false],
    ['Exists', ['r1'], false],
  ] as const) {
    const expression = { key: 'rack', operator, ...(values === undefined ? {} : { values: [...values] }) };
    assert.equal(matches({ matchExpressions: [expression] }, labels), expected, `${operator} ${values?.join() ?? ''}`);
  }
});

function openScheduler(options?: SchedulerOptions) {
  const servers = new Store<Server>();
  const claims = new Store<ServerClaim>();
  const readinessRules = new Store<ServerReadinessRule>();
  servers.addIndexes({
    uuid: ({ spec }) => [spec.systemUUID.toLowerCase()],
    claim: ({ spec }) =>
      spec.serverClaimRef === undefined ? [] : [`${spec.serverClaimRef.namespace}/${spec.serverClaimRef.name}`],
  });
  const clock = fakeClock();
  const scheduler = new ClaimScheduler({ servers, claims, readinessRules }, clock, options);
  const assumedClaims: string[] = [];
  scheduler.assumed.on((claimKey) => assumedClaims.push(claimKey));
  let version = 0;
  const at = <T extends Server | ServerClaim | ServerReadinessRule>(object: T): T => {
    version += 1;
    return { ...object, metadata: { ...object.metadata, uid: object.metadata.name, resourceVersion: String(version) } };
  };
  return {
    scheduler,
    /** Claims that got an assumed binding, in order. */
    assumedClaims,
    clock,
    servers,
    claims,
    /** Deletes the claim. */
    gone: (name: string) => claims.removeByUid(`team/${name}`, name),
    serverGone: (name: string) => servers.removeByUid(name, name),
    started: scheduler.start(),
    server: (object: Server) => servers.upsertIfNewer(at(object)),
    claim: (object: ServerClaim) => claims.upsertIfNewer(at(object)),
    rule: (object: ServerReadinessRule) => readinessRules.upsertIfNewer(at(object)),
  };
}

test('a claim that has its server gets no second one, although its status is not Bound yet', async () => {
  const { scheduler, started, ...apply } = openScheduler();
  using _started = started;
  apply.claim(claim('first'));
  apply.server(server('one', { serverClaimRef: { namespace: 'team', name: 'first', uid: 'first' } }));
  apply.server(server('two'));
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(claim('first')), undefined);
  apply.claim(claim('second', {}, '2026-02-01T00:00:00Z'));
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(claim('second'))?.metadata.name, 'two');
});

test('the explanation of a claim for one server is about that server, and names a faulty selector', () => {
  const { scheduler, started, ...apply } = openScheduler();
  using _started = started;
  apply.server(server('one', { unclaimable: true }));
  const explanations: [constraints: Partial<ServerClaim['spec']>, text: string][] = [
    [{ serverRef: { name: 'one' } }, 'server "one" of spec.serverRef: Cordoned'],
    [{ serverRef: { name: 'two' } }, 'server "two" of spec.serverRef does not exist'],
    [{ serverSelector: {} }, 'looked at 1 servers: 1 Cordoned'],
    [{}, 'no serverSelector, so any server will do; looked at 1 servers: 1 Cordoned'],
    [
      { serverSelector: { matchExpressions: [{ key: 'rack', operator: 'In' }] } },
      'spec.serverSelector selects nothing (matchExpressions: In for rack needs values); create the claim anew',
    ],
  ];
  for (const [constraints, text] of explanations) assert.equal(scheduler.explain(claim('c', constraints)), text);
});

test('claims with equal constraints share an explanation until a server changes', () => {
  const { scheduler, started, ...apply } = openScheduler();
  using _started = started;
  const constraints = { serverSelector: {} };
  const reported = () => [scheduler.explain(claim('one', constraints)), scheduler.explain(claim('other', constraints))];
  apply.server(server('a', { unclaimable: true }));
  assert.deepEqual(reported(), Array(2).fill('looked at 1 servers: 1 Cordoned'));
  apply.server(server('b', { unclaimable: true }));
  assert.deepEqual(reported(), Array(2).fill('looked at 2 servers: 2 Cordoned'));
  apply.server(server('b', { serverClaimRef: { namespace: 'team', name: 'x', uid: 'x' } }));
  assert.deepEqual(reported(), Array(2).fill('looked at 2 servers: 1 ClaimedByAnother, 1 Cordoned'));
});

test('claims without a match are explained again at a limited total rate, each within an hour', () => {
  const { scheduler, started, ...apply } = openScheduler();
  using _started = started;
  const none = { serverSelector: { matchLabels: { gpu: 'yes' } } };
  const pauses = (count: number) => {
    for (let index = 0; index < count; index += 1) apply.claim(claim(`c-${index}`, none));
    return Array.from({ length: count }, (_, index) => scheduler.explainIntervalMs(claim(`c-${index}`, none)));
  };
  const perSecond = (all: readonly number[]) => all.reduce((sum, pauseMs) => sum + 1_000 / pauseMs, 0);
  const [alone = 0] = pauses(1);
  assert.ok(alone >= seconds(30) && alone <= seconds(60), `${alone} ms`);
  for (const count of [100, 1_000, 5_000]) {
    const all = pauses(count);
    assert.ok(perSecond(all) < 3, `${perSecond(all)} per second`);
    assert.ok(Math.max(...all) <= seconds(3_600));
    assert.ok(Math.max(...all) - Math.min(...all) > Math.max(...all) / 3, 'not all at once');
  }
});

test('a new match level of one claim enqueues the claims with equal constraints', async () => {
  const { scheduler, started, clock, ...apply } = openScheduler();
  using _started = started;
  const [gpu, other] = ['gpu', 'disk'].map((label) => ({ serverSelector: { matchLabels: { [label]: 'yes' } } }));
  for (const name of ['a', 'b', 'c']) apply.claim(claim(name, gpu));
  apply.claim(claim('other', other));
  const reported: string[] = [];
  using _subscription = scheduler.reasonChanged.on((claimKey) => reported.push(claimKey));
  const reportsWhen = (name: string, change: () => void): string[] => {
    change();
    scheduler.explain(claim(name, gpu));
    assert.deepEqual(reported, [], 'an explanation has no effect');
    if (scheduler.hasNewMatchLevel(claim(name, gpu))) scheduler.shareMatchLevel(claim(name, gpu));
    return reported.splice(0);
  };
  assert.deepEqual(
    reportsWhen('a', () => undefined),
    [],
    'there are no servers',
  );
  assert.deepEqual(
    reportsWhen('b', () => apply.server(server('one'))),
    ['team/a', 'team/c'],
    'now there is one, with other labels',
  );
  assert.deepEqual(
    reportsWhen('a', () => apply.server(server('two'))),
    [],
    'two are no other reason than one',
  );
  const claimed = { serverClaimRef: { namespace: 'x', name: 'y' } };
  assert.deepEqual(
    reportsWhen('a', () => apply.server(server('two', claimed, { gpu: 'yes' }))),
    [],
    'further changes are throttled',
  );
  assert.deepEqual(
    reportsWhen('a', () => clock.advance(seconds(300))),
    ['team/b', 'team/c'],
    'one fits, and is claimed',
  );
  clock.advance(seconds(300));
  assert.deepEqual(
    reportsWhen('c', () =>
      apply.server(server('two', { ...claimed, taints: [{ key: 'k', effect: 'NoBind' }] }, { gpu: 'yes' })),
    ),
    ['team/a', 'team/b'],
    'one fits but for a taint',
  );
});

const burnedIn = (serverSelector: ServerReadinessRule['spec']['serverSelector']): ServerReadinessRule => ({
  apiVersion,
  kind: 'ServerReadinessRule',
  metadata: { name: 'burned-in' },
  spec: {
    conditions: [{ type: 'BurnIn', requiredStatus: 'True' }],
    enforcementMode: 'Continuous',
    taint: { key: 'k', effect: 'NoBind' },
    serverSelector,
  },
});

test('a created or deleted rule, and a changed condition, start a new pass', async () => {
  const { scheduler, started, ...apply } = openScheduler();
  using _started = started;
  const rule = burnedIn({});
  apply.rule(rule);
  apply.server(server('one'));
  apply.claim(claim('first'));
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(claim('first')), undefined);
  const burnIn = { type: 'BurnIn', reason: 'Done', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const free = { state: 'Available', powerState: 'Off' } as const;
  apply.server(server('one', {}, {}, { ...free, conditions: [{ ...burnIn, status: 'True' }] }));
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(claim('first'))?.metadata.name, 'one');
  apply.server(server('one', {}, {}, { ...free, conditions: [{ ...burnIn, status: 'False' }] }));
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(claim('first')), undefined);
  apply.rule({ ...rule, metadata: { ...rule.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(claim('first'))?.metadata.name, 'one');
  apply.rule(rule);
  assert.equal(scheduler.assumedBindingOf(claim('first')), undefined);
});

test('an abandoned server is assigned to the next claim', async () => {
  const { scheduler, started, ...apply } = openScheduler();
  using _started = started;
  apply.claim(claim('first'));
  apply.claim(claim('second', {}, '2026-02-01T00:00:00Z'));
  apply.server(server('one'));
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(claim('first'))?.metadata.name, 'one');
  assert.match(scheduler.explain(claim('second')), /looked at 1 servers: 1 PromisedToAnOlderClaim/);
  apply.claim({
    ...claim('first'),
    metadata: { ...claim('first').metadata, deletionTimestamp: '2026-03-01T00:00:00Z' },
  });
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(claim('second'))?.metadata.name, 'one');
});

/** As the claim controller does when the API server has another state of the server than the cache. */
function failBinding(scheduler: ClaimScheduler, pendingClaim: ServerClaim): void {
  const assumedBinding = scheduler.assumedBindingOf(pendingClaim);
  assert.ok(assumedBinding);
  scheduler.bindFailed(keyOf(pendingClaim), assumedBinding);
}

test('a server whose binding failed is assigned again when it changes in the cache', async () => {
  const { scheduler, started, assumedClaims, ...apply } = openScheduler();
  using _started = started;
  apply.claim(claim('first'));
  apply.server(server('one'));
  await nextPass();
  failBinding(scheduler, claim('first'));
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(claim('first')), undefined);
  apply.claim(claim('second', {}, '2026-02-01T00:00:00Z'));
  await nextPass();
  assert.deepEqual(assumedClaims, ['team/first'], 'no other claim gets that server either');
  assert.match(scheduler.explain(claim('first')), /looked at 1 servers: 1 OutOfDate/);

  apply.server(server('one'));
  await nextPass();
  assert.deepEqual(assumedClaims, ['team/first', 'team/first']);
});

test('a server whose binding failed is assigned again after 10 s without a change in the cache', async () => {
  const { scheduler, started, assumedClaims, clock, ...apply } = openScheduler();
  using _started = started;
  apply.claim(claim('first'));
  apply.server(server('one'));
  await nextPass();
  failBinding(scheduler, claim('first'));
  await nextPass();
  clock.advance(seconds(10));
  await nextPass();
  assert.deepEqual(assumedClaims, ['team/first', 'team/first']);
});

test('a server that is free again when its binding fails is stale for 10 s', async () => {
  const { scheduler, started, assumedClaims, clock, ...apply } = openScheduler();
  using _started = started;
  apply.claim(claim('first'));
  apply.server(server('one'));
  await nextPass();
  const one = scheduler.assumedBindingOf(claim('first'));
  assert.ok(one);
  apply.gone('first');
  scheduler.bindFailed('team/first', one);
  apply.claim(claim('second'));
  await nextPass();
  assert.deepEqual(assumedClaims, ['team/first']);
  clock.advance(seconds(10));
  await nextPass();
  assert.deepEqual(assumedClaims, ['team/first', 'team/second']);
});

test('a binding that failed on an older version than that of the cache is assumed again at once', async () => {
  const { scheduler, started, ...apply } = openScheduler();
  using _started = started;
  apply.claim(claim('first'));
  apply.server(server('one'));
  await nextPass();
  const assumedServer = scheduler.assumedBindingOf(claim('first'));
  assert.ok(assumedServer);
  apply.server(server('one', {}, { rack: 'r1' }));
  scheduler.bindFailed('team/first', assumedServer);
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(claim('first'))?.metadata.labels?.rack, 'r1');
});

test('a claim whose binding failed gets another server, and keeps it after a late failure of the first', async () => {
  const { scheduler, started, assumedClaims, ...apply } = openScheduler();
  using _started = started;
  apply.claim(claim('first'));
  apply.server(server('one'));
  apply.server(server('two'));
  await nextPass();
  const one = scheduler.assumedBindingOf(claim('first'));
  assert.equal(one?.metadata.name, 'one');
  failBinding(scheduler, claim('first'));
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(claim('first'))?.metadata.name, 'two');
  scheduler.bindFailed('team/first', one);
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(claim('first'))?.metadata.name, 'two');
  assert.deepEqual(assumedClaims, ['team/first', 'team/first']);
});

test('a paused claim blocks no server, and gets one when it is resumed', async () => {
  const { scheduler, started, ...apply } = openScheduler();
  using _started = started;
  const paused = claim('first');
  paused.metadata.annotations = { 'metal.ironcore.dev/operation': 'ignore' };
  apply.claim(claim('first'));
  apply.claim(claim('second', {}, '2026-02-01T00:00:00Z'));
  apply.server(server('one'));
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(claim('first'))?.metadata.name, 'one');
  apply.claim(paused);
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(claim('first')), undefined, 'the server is released');
  assert.equal(scheduler.assumedBindingOf(claim('second'))?.metadata.name, 'one');
  apply.server(server('two'));
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(claim('first')), undefined, 'no server is assigned');
  apply.claim(claim('first'));
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(claim('first'))?.metadata.name, 'two');
});

/** Claims in the order of their names. */
const aged = (name: string, constraints: Partial<ServerClaim['spec']> = {}): ServerClaim =>
  claim(name, constraints, `2026-01-01T00:00:${String(name.charCodeAt(0) - 97).padStart(2, '0')}Z`);
const holding = (name: string) => ({ serverClaimRef: { namespace: 'team', name, uid: name } });
const ready = (reason: string, status: 'True' | 'False') => ({
  conditions: [{ type: 'Ready', status, reason, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }],
});
const reserved = { state: 'Reserved', powerState: 'On' } as const;
const servedFor = (name: string, by: string): Server =>
  server(by, holding(name), {}, { ...reserved, ...ready('ClaimServed', 'True') });

/** Two claims may be in flight; five free servers, s1 to s5, and the claims in this order. */
async function openQueue(claims: readonly ServerClaim[]) {
  const opened = openScheduler({ maxInFlight: 2 });
  for (const name of ['s1', 's2', 's3', 's4', 's5']) opened.server(server(name, {}, { name }));
  claims.forEach(opened.claim);
  await nextPass();
  // A server keeps the conditions that it had while it was free until it is reconciled.
  const bind = (name: string, by: string) =>
    opened.server(
      server(by, holding(name), {}, { state: 'Available', powerState: 'Off', ...ready('Available', 'True') }),
    );
  return { ...opened, bind, [Symbol.dispose]: () => opened.started[Symbol.dispose]() };
}
type Queue = Awaited<ReturnType<typeof openQueue>>;

const endings: [what: string, end: (queue: Queue) => void][] = [
  ['has its server ready', ({ server: apply }) => apply(servedFor('a', 's1'))],
  [
    'has a machine that boots',
    ({ server: apply }) => apply(server('s1', holding('a'), {}, { ...reserved, ...ready('WaitingForBoot', 'False') })),
  ],
  [
    'has its server ready and powered off',
    ({ server: apply }) =>
      apply({ ...servedFor('a', 's1'), status: { ...servedFor('a', 's1').status, powerState: 'Off' } }),
  ],
  ['is removed', ({ gone }) => gone('a')],
  [
    'is being deleted',
    ({ claim: apply }) =>
      apply({ ...aged('a'), metadata: { ...aged('a').metadata, deletionTimestamp: '2026-03-01T00:00:00Z' } }),
  ],
  [
    'is paused',
    ({ claim: apply }) =>
      apply({
        ...aged('a'),
        metadata: { ...aged('a').metadata, annotations: { 'metal.ironcore.dev/operation': 'ignore' } },
      }),
  ],
  ['is lost', ({ claim: apply }) => apply({ ...aged('a'), status: { phase: 'Lost' } })],
  ['has been in flight for thirty seconds', ({ clock }) => clock.advance(seconds(30))],
];
for (const [what, end] of endings) {
  test(`a queued claim gets its server when an older claim ${what}`, async () => {
    using queue = await openQueue([aged('c'), aged('b'), aged('a')]);
    const { scheduler, assumedClaims, bind, clock } = queue;
    assert.deepEqual(assumedClaims, ['team/a', 'team/b']);
    bind('a', 's1');
    await nextPass();
    queue.claim(aged('a', { serverRef: { name: 's1' } }));
    queue.server(server('s1', holding('a'), {}, { ...reserved, powerState: 'Off', ...ready('Changing', 'False') }));
    queue.claim({ ...aged('a', { serverRef: { name: 's1' } }), status: { phase: 'Bound' } });
    clock.advance(seconds(29));
    await nextPass();
    assert.equal(scheduler.assumedBindingOf(aged('c')), undefined, 'a is in flight, although it is bound');
    assert.equal(scheduler.isQueued(aged('c')), true);
    end(queue);
    await nextPass();
    assert.deepEqual(assumedClaims, ['team/a', 'team/b', 'team/c']);
    assert.equal(scheduler.assumedBindingOf(aged('c'))?.metadata.name, 's3');
  });
}

test('a server that is released before its machine started frees the slot', async () => {
  using queue = await openQueue([aged('a'), aged('b'), aged('c')]);
  queue.bind('a', 's1');
  queue.claim({ ...aged('a'), status: { phase: 'Bound' } });
  await nextPass();
  assert.deepEqual(queue.assumedClaims, ['team/a', 'team/b']);
  queue.server(server('s1'));
  await nextPass();
  assert.deepEqual(queue.assumedClaims, ['team/a', 'team/b', 'team/c']);
});

test('a claim whose binding failed comes before younger claims', async () => {
  using queue = await openQueue([aged('a'), aged('b'), aged('c')]);
  failBinding(queue.scheduler, aged('a'));
  await nextPass();
  assert.deepEqual(queue.assumedClaims, ['team/a', 'team/b', 'team/a']);
  assert.equal(queue.scheduler.assumedBindingOf(aged('a'))?.metadata.name, 's3', 's1 is stale');
});

test('a claim that is in flight for long keeps its server, and takes no second slot', async () => {
  using queue = await openQueue([aged('a'), aged('b'), aged('c'), aged('d'), aged('e')]);
  queue.clock.advance(seconds(30));
  await nextPass();
  assert.deepEqual(queue.assumedClaims, ['team/a', 'team/b', 'team/c', 'team/d']);
  assert.equal(queue.scheduler.assumedBindingOf(aged('a'))?.metadata.name, 's1');
  queue.server(servedFor('a', 's1'));
  await nextPass();
  assert.equal(queue.scheduler.assumedBindingOf(aged('e')), undefined, 'the slot of a was released earlier');
});

test('the oldest pending claim comes first, whenever it was added', async () => {
  using queue = await openQueue([aged('b'), aged('c'), aged('e')]);
  queue.claim(aged('d'));
  queue.claim(aged('a'));
  await nextPass();
  assert.deepEqual(queue.assumedClaims, ['team/b', 'team/c'], 'no assumed binding is withdrawn for an older claim');
  queue.server(servedFor('b', 's1'));
  await nextPass();
  queue.server(servedFor('c', 's2'));
  await nextPass();
  assert.deepEqual(queue.assumedClaims, ['team/b', 'team/c', 'team/a', 'team/d']);
});

test('claims without a match take no slot and are not queued', async () => {
  const none = { serverSelector: { matchLabels: { gpu: 'yes' } } };
  const missing = { serverRef: { name: 's9' } };
  using queue = await openQueue([
    aged('a', none),
    aged('b', missing),
    aged('c'),
    aged('d'),
    aged('e'),
    aged('f', none),
  ]);
  const { scheduler, assumedClaims } = queue;
  assert.deepEqual(assumedClaims, ['team/c', 'team/d']);
  const queued = [aged('a', none), aged('b', missing), aged('e'), aged('f', none)].map((pendingClaim) =>
    scheduler.isQueued(pendingClaim),
  );
  assert.deepEqual(queued, [false, false, true, false]);
  queue.server(server('s9', {}, { gpu: 'yes' }));
  assert.equal(scheduler.isQueued(aged('f', none)), true, 'a matching server appeared');
  queue.server(servedFor('c', 's1'));
  await nextPass();
  assert.deepEqual(assumedClaims, ['team/c', 'team/d', 'team/a']);
});

test('a claim for one server is queued, and no younger claim gets that server', async () => {
  const named = aged('c', { serverRef: { name: 's1' } });
  const rest = { serverSelector: { matchExpressions: [{ key: 'name', operator: 'NotIn', values: ['s1'] }] } };
  using queue = await openQueue([aged('a', rest), aged('b', rest), named, aged('d')]);
  const { scheduler, assumedClaims } = queue;
  assert.deepEqual(assumedClaims, ['team/a', 'team/b']);
  assert.equal(scheduler.isQueued(named), true);
  queue.server(servedFor('a', 's2'));
  queue.server(servedFor('b', 's3'));
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(named)?.metadata.name, 's1');
  assert.equal(scheduler.assumedBindingOf(aged('d'))?.metadata.name, 's4');
});

test('a claim whose named server is assumed for an older claim reports that, and is not queued', async () => {
  const [first, second] = [aged('a', { serverRef: { name: 's1' } }), aged('b', { serverRef: { name: 's1' } })];
  using queue = await openQueue([first, second]);
  assert.equal(queue.scheduler.isQueued(second), false);
  assert.match(queue.scheduler.explain(second), /PromisedToAnOlderClaim/);
});

test('a claim that was bound before the start takes no slot, and a bound claim is not pending', async () => {
  const { scheduler, assumedClaims, started, ...apply } = openScheduler({ maxInFlight: 2 });
  started[Symbol.dispose]();
  for (const [name, by] of [
    ['a', 's1'],
    ['b', 's2'],
    ['c', 's3'],
  ] as const) {
    apply.server(server(by, holding(name)));
    apply.claim(aged(name));
  }
  for (const name of ['s4', 's5', 's6']) apply.server(server(name));
  for (const name of ['d', 'e', 'f']) apply.claim(aged(name));
  using _again = scheduler.start();
  await nextPass();
  assert.deepEqual(assumedClaims, ['team/d', 'team/e']);
  apply.server(server('s6', holding('f')));
  apply.server(servedFor('d', 's4'));
  await nextPass();
  assert.deepEqual(assumedClaims, ['team/d', 'team/e'], 'f was bound by another client');
});

test('the cost of a released slot is independent of the number of pending claims', async ({ mock }) => {
  const { scheduler, assumedClaims, started, servers, ...apply } = openScheduler({ maxInFlight: 2 });
  using _started = started;
  for (let index = 0; index < 500; index += 1) {
    apply.server(server(`s-${index}`));
    apply.claim(
      claim(`c-${String(index).padStart(3, '0')}`, index % 2 === 0 ? {} : { serverRef: { name: `s-${499 - index}` } }),
    );
  }
  await nextPass();
  assert.deepEqual(assumedClaims, ['team/c-000', 'team/c-001']);
  const calls = [mock.method(servers, 'get'), mock.method(servers, 'by')];
  for (const name of ['c-000', 'c-001'])
    apply.server(servedFor(name, scheduler.assumedBindingOf(claim(name))?.metadata.name ?? ''));
  await nextPass();
  assert.deepEqual(assumedClaims.slice(2), ['team/c-002', 'team/c-003']);
  assert.ok(calls.every((call) => call.mock.callCount() < 20));
});

test('claims with equal constraints and no match are evaluated once', async ({ mock }) => {
  const { scheduler, started, servers, ...apply } = openScheduler();
  using _started = started;
  const none = { serverSelector: { matchLabels: { gpu: 'yes' } } };
  for (let index = 0; index < 50; index += 1) apply.server(server(`s-${index}`));
  const claims = Array.from({ length: 50 }, (_, index) => claim(`c-${index}`, none));
  claims.forEach(apply.claim);
  const calls = mock.method(servers, 'get');
  await nextPass();
  assert.ok(claims.every((constraints) => !scheduler.isQueued(constraints)));
  assert.equal(calls.mock.callCount(), 50);
});

test('a pass with many constraints and servers yields to the event loop', async ({ mock }) => {
  const { assumedClaims, started, servers, ...apply } = openScheduler({ maxInFlight: 200, evaluationsPerPass: 100 });
  using _started = started;
  for (let index = 0; index < 50; index += 1) apply.server(server(`s-${index}`));
  for (let index = 10; index < 20; index += 1)
    apply.claim(claim(`c-${index}`, { serverSelector: { matchLabels: { rack: `missing-${index}` } } }));
  apply.claim(claim('served', {}, '2026-02-01T00:00:00Z'));
  const calls = mock.method(servers, 'get');
  const perPass: number[] = [];
  for (let pass = 0; pass < 6; pass += 1) {
    const before = calls.mock.callCount();
    await nextPass();
    perPass.push(calls.mock.callCount() - before);
  }
  assert.deepEqual(perPass.slice(0, 5), [100, 100, 100, 100, 100], 'two wishes at a time');
  assert.deepEqual(assumedClaims, ['team/served']);
});

test('a server that becomes free is evaluated once per group without a match', async ({ mock }) => {
  const { started, servers, claims, assumedClaims, ...apply } = openScheduler();
  using _started = started;
  for (let index = 0; index < 500; index += 1) {
    apply.server(server(`s-${index}`, {}, { rack: 'a' }));
    apply.claim(claim(`c-${index}`, { serverSelector: { matchLabels: { gpu: `g-${index % 5}` } } }));
    apply.claim(claim(`n-${index}`, { serverRef: { name: `missing-${index}` } }));
  }
  await nextPass();
  assert.deepEqual(assumedClaims, []);
  const calls = [mock.method(servers, 'get'), mock.method(servers, 'by'), mock.method(claims, 'get')];
  apply.server(server('s-250', { unclaimable: true }, { rack: 'a' }));
  apply.server(server('s-250', {}, { rack: 'a' }));
  await nextPass();
  assert.ok(calls.every((call) => call.mock.callCount() < 20));
  assert.deepEqual(assumedClaims, []);
  apply.server(server('s-250', {}, { rack: 'a', gpu: 'g-3' }));
  await nextPass();
  assert.deepEqual(assumedClaims, ['team/c-103'], 'the first by name of those of one age');
});

test('a rule that changes only its status, or holds back no free server, causes no evaluation', async ({ mock }) => {
  const { started, servers, ...apply } = openScheduler();
  using _started = started;
  const rule = burnedIn({ matchLabels: { rack: 'b' } });
  for (let index = 0; index < 50; index += 1) apply.server(server(`s-${index}`, {}, { rack: 'a' }));
  for (let index = 0; index < 50; index += 1)
    apply.claim(claim(`c-${index}`, { serverSelector: { matchLabels: { gpu: `g-${index}` } } }));
  await nextPass();
  const calls = mock.method(servers, 'get');
  apply.rule(rule);
  await nextPass();
  assert.equal(calls.mock.callCount(), 50, 'only the rule is evaluated');
  apply.rule({ ...rule, status: { conditions: [] } });
  await nextPass();
  assert.equal(calls.mock.callCount(), 50);
});

const losses: [what: string, lose: (queue: Queue) => void][] = [
  ['is cordoned', (queue) => queue.server(server('s1', { unclaimable: true }))],
  ['is powered on', (queue) => queue.server(server('s1', {}, {}, { state: 'Available', powerState: 'On' }))],
  ['is deleted', ({ serverGone }) => serverGone('s1')],
  ['is bound to another claim', (queue) => queue.server(server('s1', holding('z')))],
];
for (const [what, lose] of losses) {
  test(`a claim gets another server when the assumed one ${what}`, async () => {
    using queue = await openQueue([aged('a')]);
    queue.clock.advance(seconds(31));
    await nextPass();
    assert.equal(queue.scheduler.assumedBindingOf(aged('a'))?.metadata.name, 's1');
    lose(queue);
    await nextPass();
    assert.equal(queue.scheduler.assumedBindingOf(aged('a'))?.metadata.name, 's2');
  });
}

test('an unbound claim that loses its server gets another one', async () => {
  using queue = await openQueue([]);
  queue.server(server('s1', holding('a'), {}, reserved));
  queue.claim(aged('a'));
  await nextPass();
  assert.equal(queue.scheduler.assumedBindingOf(aged('a')), undefined);
  queue.serverGone('s1');
  await nextPass();
  assert.equal(queue.scheduler.assumedBindingOf(aged('a'))?.metadata.name, 's2');
});

test('claims with equal constraints share the servers that were found, also for later calls', async ({ mock }) => {
  const { scheduler, started, servers, ...apply } = openScheduler({ maxInFlight: 1 });
  using _started = started;
  const late = { serverSelector: { matchLabels: { rack: 'b' } } };
  for (let index = 0; index < 50; index += 1) apply.server(server(`s-${index}`, {}, { rack: index < 45 ? 'a' : 'b' }));
  const claims = Array.from({ length: 20 }, (_, index) => claim(`c-${index}`, late));
  claims.forEach(apply.claim);
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(claim('c-0', late))?.metadata.name, 's-45');
  const calls = mock.method(servers, 'get');
  assert.ok(claims.slice(1).every((constraints) => scheduler.isQueued(constraints)));
  assert.ok(calls.mock.callCount() < 45, `${calls.mock.callCount()} evaluations`);
});

test('a restarted scheduler keeps no state', async () => {
  const { scheduler, assumedClaims, started, ...apply } = openScheduler();
  apply.claim(claim('old'));
  await nextPass();
  started[Symbol.dispose]();
  apply.gone('old');
  apply.server(server('one'));
  apply.claim(claim('new'));
  using _again = scheduler.start();
  await nextPass();
  assert.deepEqual(assumedClaims, ['team/new']);
});

test('a disposed scheduler has no timers and assigns no server', async () => {
  const { started, assumedClaims, clock, ...apply } = openScheduler();
  apply.server(server('s1'));
  apply.claim(aged('a'));
  await nextPass();
  assert.equal(clock.pending, 1);
  apply.server(server('s2'));
  apply.claim(aged('b'));
  started[Symbol.dispose]();
  await nextPass();
  assert.deepEqual([assumedClaims, clock.pending], [['team/a'], 0]);
});

test('one of two servers with one system UUID is assigned, and the other after the first is deleted', async () => {
  const { scheduler, assumedClaims, started, serverGone, ...apply } = openScheduler();
  using _started = started;
  const sameMachine = { systemUUID: 'AA' };
  apply.server(server('twin', sameMachine));
  apply.claim(claim('picky', { serverRef: { name: 'twin' } }));
  await nextPass();
  assert.deepEqual(assumedClaims, ['team/picky'], 'it is the only one yet');
  apply.server(server('a', { systemUUID: 'aa', serverClaimRef: { namespace: 'x', name: 'y' } }));
  await nextPass();
  const picky = claim('picky', { serverRef: { name: 'twin' } });
  assert.equal(scheduler.assumedBindingOf(picky), undefined, 'the promise is withdrawn');
  assert.match(scheduler.explain(picky), /server "twin" of spec.serverRef: DuplicateSystemUUID/);
  serverGone('a');
  await nextPass();
  assert.equal(scheduler.assumedBindingOf(picky)?.metadata.name, 'twin');
});
