import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { reportServer } from '../report.ts';
import {
  calmServer as calm,
  decide,
  boundClaim as held,
  readyBoot as boot,
} from '../../../../test/server/table.rows.ts';
import { serverTable } from '../table.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import { type DuplicateFacts, duplicateFacts } from './facts.ts';

const ignored: DuplicateFacts = { isIgnored: true, message: 'Server a has it too', key: 'a b', isReported: true };
const workToDo: Partial<ServerFacts>[] = [
  { power: 'On' },
  { power: 'Off', claim: held },
  { power: 'On', claim: { ...held, wantsPower: 'Off' } },
  { claim: { binding: 'lost', uid: 'claim-1', name: 'team/one' }, power: 'On' },
  { operation: { kind: 'reset', value: 'force-off-server', type: 'ForceOff' } },
  { operation: { kind: 'park', value: 'park' } },
  { light: { desired: 'Lit', isDone: false, rejection: undefined } },
  { overrideSeen: true },
  { probeBoot: boot, report: 'fresh' },
  { cleanup: { ...calm.cleanup, needed: true, attempt: 1, boot } },
];

for (const phase of Object.keys(serverTable) as ServerPhase[]) {
  test(`${phase}: a Server whose machine is managed by another Server waits, whatever work is due`, () => {
    for (const facts of workToDo)
      assert.equal(decide(phase, { ...calm, ...facts, duplicate: ignored }), 'wait DuplicateSystemUUID');
  });
}

test('both Servers report the duplicate once, and the managed one continues', () => {
  for (const isIgnored of [true, false]) {
    const unreported = { ...ignored, isIgnored, isReported: false };
    assert.equal(decide('Available', { ...calm, duplicate: unreported }), 'act recordDuplicateEvent');
  }
  const managed = { ...ignored, isIgnored: false };
  assert.equal(decide('Available', { ...calm, power: 'On', duplicate: managed }), 'act powerOff');
});

const server = (name: string, day: number, spec: Partial<Server['spec']> = {}): Server => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name, uid: name, creationTimestamp: `2026-01-0${day}T00:00:00Z` },
  spec: { systemUUID: name === 'b' ? 'AA-1' : 'aa-1', ...spec },
});

function factsOf(name: string, servers: readonly Server[], memory = new ObservedSystem()): DuplicateFacts | undefined {
  const store = new Store<Server>();
  store.addIndexes({ uuid: ({ spec }) => [spec.systemUUID.toLowerCase()] });
  for (const each of servers) store.upsertIfNewer(each);
  const found = store.get(name);
  assert.ok(found);
  return duplicateFacts(found, memory, store);
}

test('a machine with one Server has no duplicate', () => {
  assert.equal(factsOf('a', [server('a', 1), server('c', 1, { systemUUID: 'cc' })]), undefined);
});

test('the UUID comparison ignores case, and each message names the other Server and the remedy', () => {
  const both = [server('a', 1), server('b', 2)];
  assert.deepEqual(
    ['a', 'b'].map((name) => [factsOf(name, both)?.isIgnored, factsOf(name, both)?.message]),
    [
      [false, 'Server b has this system UUID too; this one is managed; delete the surplus'],
      [true, 'Server a has this system UUID too and is managed; delete one of the two'],
    ],
  );
});

test('a Server with a claim is managed instead of an older one, and the message names the claim', () => {
  const claimed = server('b', 2, { serverClaimRef: { namespace: 'team', name: 'claim' } });
  const older = factsOf('a', [server('a', 1), claimed]);
  assert.equal(older?.isIgnored, true);
  assert.match(older.message, /^Server b has .* is managed, as it has a claim;/);
});

test('a message with many names is shortened', () => {
  const many = ['b', 'c', 'd', 'e', 'f'].map((name) => server(name, 2));
  assert.match(factsOf('a', [server('a', 1), ...many])?.message ?? '', /^Server b, c, d and 2 more has/);
});

test('another duplicate or another managed Server is reported again', () => {
  const memory = new ObservedSystem();
  memory.reportedDuplicates = factsOf('a', [server('a', 1), server('b', 2)])?.key;
  assert.equal(factsOf('a', [server('a', 1), server('b', 2)], memory)?.isReported, true);
  assert.equal(factsOf('a', [server('a', 1), server('b', 2), server('c', 3)], memory)?.isReported, false);
  const claimed = server('b', 2, { serverClaimRef: { namespace: 'team', name: 'claim' } });
  assert.equal(factsOf('a', [server('a', 1), claimed], memory)?.isReported, false);
});

test('the condition becomes True only where it was False before', () => {
  const conditionText = (status: Server['status'], duplicate: DuplicateFacts | undefined) => {
    const decision = { kind: 'wait', reason: 'DuplicateSystemUUID' } as const;
    const outcome = { phase: 'Initial', phaseSince: '2026-01-01T00:00:00Z', decision } as const;
    const { conditions } = reportServer({ ...server('a', 1), status }, { ...calm, duplicate }, outcome);
    const found = conditions.find(({ type }) => type === 'SystemUUIDUnique');
    return found && `${found.status} ${found.reason}`;
  };
  assert.equal(conditionText({}, undefined), undefined);
  assert.equal(conditionText({}, ignored), 'False DuplicateSystemUUID');
  const before = {
    type: 'SystemUUIDUnique',
    status: 'False',
    reason: 'DuplicateSystemUUID',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  } as const;
  assert.equal(conditionText({ conditions: [before] }, undefined), 'True Unique');
});
