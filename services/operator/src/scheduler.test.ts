import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextPass } from 'node:timers/promises';
import type { Clock } from '@metal/kube/clock.ts';
import { Store } from '@metal/kube/store.ts';
import { keyOf } from '@metal/kube/kind.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { refusalOf } from './claimability.ts';
import { matches } from './label-selector.ts';
import { assign, ClaimScheduler } from './scheduler.ts';

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
const pairs = (claims: ServerClaim[], servers: Server[]) =>
  assign(claims, servers, []).map((pair) => `${pair.claim.metadata.name}=${pair.server.metadata.name}`);

test('the oldest claim chooses first, and takes the first server', () => {
  const claims = [claim('young', {}, '2026-01-02T00:00:00Z'), claim('old', {}, '2026-01-01T00:00:00Z')];
  assert.deepEqual(pairs(claims, [server('b-9'), server('b-10')]), ['old=b-9', 'young=b-10']);
});

test('a claim that nobody fits does not hold up those behind it', () => {
  const picky = claim('a', { serverSelector: { matchLabels: { gpu: 'yes' } } });
  assert.deepEqual(pairs([picky, claim('b')], [server('one')]), ['b=one']);
});

test('no server is given twice', () => {
  const claims = Array.from({ length: 100 }, (_, index) => claim(`claim-${index}`));
  const servers = Array.from({ length: 50 }, (_, index) => server(`server-${index}`));
  const given = assign(claims, servers, []);
  assert.equal(given.length, 50);
  assert.equal(new Set(given.map((pair) => pair.server)).size, 50);
});

const refusals: [what: string, candidate: Server, wish: Partial<ServerClaim['spec']>, refusal: string | undefined][] = [
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
for (const [what, candidate, wish, refusal] of refusals) {
  test(`${what} ${refusal === undefined ? 'is taken' : `is refused as ${refusal}`}`, () => {
    assert.equal(refusalOf(candidate, claim('c', wish), []), refusal);
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

function openScheduler() {
  const servers = new Store<Server>();
  const claims = new Store<ServerClaim>();
  const readinessRules = new Store<ServerReadinessRule>();
  servers.addIndexes({
    claim: ({ spec }) =>
      spec.serverClaimRef === undefined ? [] : [`${spec.serverClaimRef.namespace}/${spec.serverClaimRef.name}`],
  });
  let pauseEnds: () => void = () => assert.fail('nothing is paused');
  const clock: Clock = {
    now: () => 0,
    setTimeout: (_, callback) => {
      pauseEnds = callback;
      return { [Symbol.dispose]: () => (pauseEnds = () => assert.fail('the pause is over')) };
    },
    sleep: () => Promise.resolve(),
  };
  const scheduler = new ClaimScheduler({ servers, claims, readinessRules }, clock);
  const promises: string[] = [];
  scheduler.promised.on((claimKey) => promises.push(claimKey));
  let version = 0;
  const at = <T extends Server | ServerClaim | ServerReadinessRule>(object: T): T => {
    version += 1;
    return { ...object, metadata: { ...object.metadata, uid: object.metadata.name, resourceVersion: String(version) } };
  };
  return {
    scheduler,
    /** Claims that got a promise, in order. */
    promises,
    pauseEnds: () => pauseEnds(),
    started: scheduler.start(),
    server: (object: Server) => servers.absorb(at(object)),
    claim: (object: ServerClaim) => claims.absorb(at(object)),
    rule: (object: ServerReadinessRule) => readinessRules.absorb(at(object)),
  };
}

test('a claim that has its server gets no second promise, although its status does not say Bound yet', async () => {
  const { scheduler, started, ...tell } = openScheduler();
  using _started = started;
  tell.claim(claim('first'));
  tell.server(server('one', { serverClaimRef: { namespace: 'team', name: 'first', uid: 'first' } }));
  tell.server(server('two'));
  await nextPass();
  assert.equal(scheduler.promiseOf(claim('first')), undefined);
  tell.claim(claim('second', {}, '2026-02-01T00:00:00Z'));
  await nextPass();
  assert.equal(scheduler.promiseOf(claim('second'))?.metadata.name, 'two');
});

test('a claim for one server is told about that server, and any claim about its own faults', () => {
  const { scheduler, started, ...tell } = openScheduler();
  using _started = started;
  tell.server(server('one', { unclaimable: true }));
  const explanations: [wish: Partial<ServerClaim['spec']>, says: string][] = [
    [{ serverRef: { name: 'one' } }, 'server "one" of spec.serverRef: Cordoned'],
    [{ serverRef: { name: 'two' } }, 'server "two" of spec.serverRef does not exist'],
    [{ serverSelector: {} }, 'looked at 1 servers: 1 Cordoned'],
    [{}, 'neither serverRef nor serverSelector is set, so any server will do; looked at 1 servers: 1 Cordoned'],
    [
      { serverSelector: { matchExpressions: [{ key: 'rack', operator: 'In' }] } },
      'spec.serverSelector selects nothing (matchExpressions: In for rack needs values); create the claim anew; looked at 1 servers: 1 LabelsDoNotMatch',
    ],
  ];
  for (const [wish, says] of explanations) assert.equal(scheduler.explain(claim('c', wish)), says);
});

test('what was counted for one claim is told to others that choose alike, until a server changes', () => {
  const { scheduler, started, ...tell } = openScheduler();
  using _started = started;
  const wish = { serverSelector: {} };
  const told = () => [scheduler.explain(claim('one', wish)), scheduler.explain(claim('other', wish))];
  tell.server(server('a', { unclaimable: true }));
  assert.deepEqual(told(), Array(2).fill('looked at 1 servers: 1 Cordoned'));
  tell.server(server('b', { unclaimable: true }));
  assert.deepEqual(told(), Array(2).fill('looked at 2 servers: 2 Cordoned'));
  tell.server(server('b', { serverClaimRef: { namespace: 'team', name: 'x', uid: 'x' } }));
  assert.deepEqual(told(), Array(2).fill('looked at 2 servers: 1 ClaimedByAnother, 1 Cordoned'));
});

test('a rule that comes or goes, and a condition that changes, start a new pass', async () => {
  const { scheduler, started, ...tell } = openScheduler();
  using _started = started;
  const rule: ServerReadinessRule = {
    apiVersion,
    kind: 'ServerReadinessRule',
    metadata: { name: 'burned-in' },
    spec: {
      conditions: [{ type: 'BurnIn', requiredStatus: 'True' }],
      enforcementMode: 'Continuous',
      taint: { key: 'k', effect: 'NoBind' },
      serverSelector: {},
    },
  };
  tell.rule(rule);
  tell.server(server('one'));
  tell.claim(claim('first'));
  await nextPass();
  assert.equal(scheduler.promiseOf(claim('first')), undefined);
  const burnIn = { type: 'BurnIn', reason: 'Done', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const free = { state: 'Available', powerState: 'Off' } as const;
  tell.server(server('one', {}, {}, { ...free, conditions: [{ ...burnIn, status: 'True' }] }));
  await nextPass();
  assert.equal(scheduler.promiseOf(claim('first'))?.metadata.name, 'one');
  tell.server(server('one', {}, {}, { ...free, conditions: [{ ...burnIn, status: 'False' }] }));
  await nextPass();
  assert.equal(scheduler.promiseOf(claim('first')), undefined);
  tell.rule({ ...rule, metadata: { ...rule.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
  await nextPass();
  assert.equal(scheduler.promiseOf(claim('first'))?.metadata.name, 'one');
});

test('a withdrawn promise goes to the next in line', async () => {
  const { scheduler, started, ...tell } = openScheduler();
  using _started = started;
  tell.claim(claim('first'));
  tell.claim(claim('second', {}, '2026-02-01T00:00:00Z'));
  tell.server(server('one'));
  await nextPass();
  assert.equal(scheduler.promiseOf(claim('first'))?.metadata.name, 'one');
  assert.match(scheduler.explain(claim('second')), /looked at 1 servers: 1 PromisedToAnOlderClaim/);
  tell.claim({
    ...claim('first'),
    metadata: { ...claim('first').metadata, deletionTimestamp: '2026-03-01T00:00:00Z' },
  });
  await nextPass();
  assert.equal(scheduler.promiseOf(claim('second'))?.metadata.name, 'one');
});

/** What binding does when the API tells otherwise of the server than the cache. */
function findVoid(scheduler: ClaimScheduler, wish: ServerClaim): void {
  const promise = scheduler.promiseOf(wish);
  assert.ok(promise);
  scheduler.foundVoid(keyOf(wish), promise);
}

test('a promise that was void is made again when its server changes, not before', async () => {
  const { scheduler, started, promises, ...tell } = openScheduler();
  using _started = started;
  tell.claim(claim('first'));
  tell.server(server('one'));
  await nextPass();
  findVoid(scheduler, claim('first'));
  await nextPass();
  assert.equal(scheduler.promiseOf(claim('first')), undefined);
  tell.claim(claim('second', {}, '2026-02-01T00:00:00Z'));
  await nextPass();
  assert.deepEqual(promises, ['team/first'], 'nobody else is sent there either');
  assert.match(scheduler.explain(claim('first')), /looked at 1 servers: 1 OutOfDate/);

  tell.server(server('one'));
  await nextPass();
  assert.deepEqual(promises, ['team/first', 'team/first']);
});

test('a promise that was void is made again after a pause, if the cache never follows', async () => {
  const { scheduler, started, promises, pauseEnds, ...tell } = openScheduler();
  using _started = started;
  tell.claim(claim('first'));
  tell.server(server('one'));
  await nextPass();
  findVoid(scheduler, claim('first'));
  await nextPass();
  pauseEnds();
  await nextPass();
  assert.deepEqual(promises, ['team/first', 'team/first']);
});

test('a promise that was void by a version the cache is past already is made again at once', async () => {
  const { scheduler, started, ...tell } = openScheduler();
  using _started = started;
  tell.claim(claim('first'));
  tell.server(server('one'));
  await nextPass();
  const judged = scheduler.promiseOf(claim('first'));
  assert.ok(judged);
  tell.server(server('one', {}, { rack: 'r1' }));
  scheduler.foundVoid('team/first', judged);
  await nextPass();
  assert.equal(scheduler.promiseOf(claim('first'))?.metadata.labels?.rack, 'r1');
});

test('a claim with a void promise gets another server, and keeps it when the first is found void late', async () => {
  const { scheduler, started, promises, ...tell } = openScheduler();
  using _started = started;
  tell.claim(claim('first'));
  tell.server(server('one'));
  tell.server(server('two'));
  await nextPass();
  const one = scheduler.promiseOf(claim('first'));
  assert.equal(one?.metadata.name, 'one');
  findVoid(scheduler, claim('first'));
  await nextPass();
  assert.equal(scheduler.promiseOf(claim('first'))?.metadata.name, 'two');
  scheduler.foundVoid('team/first', one);
  await nextPass();
  assert.equal(scheduler.promiseOf(claim('first'))?.metadata.name, 'two');
  assert.deepEqual(promises, ['team/first', 'team/first']);
});

test('a paused claim withholds no server, and is served when people let it go on', async () => {
  const { scheduler, started, ...tell } = openScheduler();
  using _started = started;
  const paused = claim('first');
  paused.metadata.annotations = { 'metal.ironcore.dev/operation': 'ignore' };
  tell.claim(claim('first'));
  tell.claim(claim('second', {}, '2026-02-01T00:00:00Z'));
  tell.server(server('one'));
  await nextPass();
  assert.equal(scheduler.promiseOf(claim('first'))?.metadata.name, 'one');
  tell.claim(paused);
  await nextPass();
  assert.equal(scheduler.promiseOf(claim('first')), undefined, 'given back');
  assert.equal(scheduler.promiseOf(claim('second'))?.metadata.name, 'one');
  tell.server(server('two'));
  await nextPass();
  assert.equal(scheduler.promiseOf(claim('first')), undefined, 'nothing is promised');
  tell.claim(claim('first'));
  await nextPass();
  assert.equal(scheduler.promiseOf(claim('first'))?.metadata.name, 'two');
});
