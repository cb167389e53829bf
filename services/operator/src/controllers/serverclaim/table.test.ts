import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ClaimFacts, ClaimPhase } from './facts.ts';
import { serverBlockerOf } from './server-blocker.ts';
import type { Serving } from './serving.ts';
import { claimTable, decideDeletion } from './table.ts';

const server = (state: string, more: Partial<Server['spec']> = {}): Server => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name: 'rack1-system-0' },
  spec: { systemUUID: 'a', ...more },
  status: { state, powerState: 'Off' },
});

/** A new claim. */
const waiting: ClaimFacts = {
  boundServer: undefined,
  evictedFrom: undefined,
  assumedServer: undefined,
  isQueued: false,
  recorded: false,
  boot: 'absent',
  operation: 'none',
  decommission: undefined,
  evictedAt: undefined,
  maintenance: undefined,
  serving: undefined,
  unready: undefined,
  explanation: 'there are no servers',
  hasNewMatchLevel: false,
  explainedForMs: minutes(3),
};
const bound: Partial<ClaimFacts> = { boundServer: server('Reserved'), recorded: true, boot: 'present' };
const blockedAs = (type: string, reason: string, state = 'Reserved') => {
  const conditions = [{ type, status: 'False' as const, reason, message: '', lastTransitionTime: '' }];
  return serverBlockerOf({ ...server(state), status: { state, conditions } }, undefined);
};
const parked = blockedAs('Ready', 'Parked', 'Parked');
/** Its server is not as the claim asks. */
const servingWith = (blocker: Serving['blocker'], serverBlocker?: Serving['serverBlocker']): Serving => ({
  prepared: { status: 'True', reason: 'Prepared', message: 'prepared' },
  booted: { status: 'False', reason: 'WaitingForBoot', message: 'nothing fetched' },
  blocker,
  serverBlocker,
});

type Line = [title: string, phase: ClaimPhase | 'deleted', facts: Partial<ClaimFacts>, decided: string];

const lines: Line[] = [
  ['waits for a server and reports why there is none', 'Unbound', {}, 'wait NoServerMatches'],
  [
    'waits for the server that it names and that is not ready',
    'Unbound',
    { unready: 'BMCNotReady' },
    'wait BMCNotReady',
  ],
  ['shares a new explanation with similar claims first', 'Unbound', { hasNewMatchLevel: true }, 'act shareMatchLevel'],
  ['waits until older claims are served', 'Unbound', { isQueued: true }, 'wait OthersFirst'],
  ['binds the server that was chosen for it', 'Unbound', { assumedServer: server('Available') }, 'act bind'],
  ['records the name of its server', 'Unbound', { ...bound, recorded: false }, 'act recordServer'],
  [
    'waits until its server is reserved',
    'Unbound',
    { ...bound, boundServer: server('Parked') },
    'wait WaitingForReservation',
  ],
  ['creates its boot configuration', 'Unbound', { ...bound, boot: 'absent' }, 'act createBootConfiguration'],
  [
    'does not take over a boot configuration of another owner',
    'Unbound',
    { ...bound, boot: 'foreign' },
    'wait NameTaken',
  ],
  ['is bound when its boot configuration exists', 'Unbound', bound, 'go Bound'],
  ['consumes a retry that changes nothing', 'Unbound', { operation: 'retry' }, 'act consumeOperation'],
  ['rests while it holds its server', 'Bound', bound, 'rest rest'],
  [
    'is not Ready while its machine is not as it asks',
    'Bound',
    { ...bound, serving: servingWith(parked) },
    'wait ServerParked',
  ],
  [
    'takes over a correction before anything was booted',
    'Bound',
    { ...bound, boot: 'correctable', serving: servingWith(parked) },
    'act correctBootConfiguration',
  ],
  ['keeps what was booted when the image changes', 'Bound', { ...bound, boot: 'outdated' }, 'rest rest'],
  [
    'accepts a request for the changed image',
    'Bound',
    { ...bound, boot: 'outdated', operation: 'reprovision' },
    'act acceptReprovision',
  ],
  [
    'replaces a superseded boot configuration',
    'Bound',
    { ...bound, boot: 'superseded' },
    'act deleteBootConfiguration',
  ],
  [
    'creates a boot configuration that was deleted again',
    'Bound',
    { ...bound, boot: 'absent' },
    'act createBootConfiguration',
  ],
  ['passes on a changed boot policy', 'Bound', { ...bound, boot: 'unmarked' }, 'act markBootPolicy'],
  ['is lost when no server refers to it', 'Bound', {}, 'go Lost'],
  ['stays lost, although a server is free', 'Lost', { assumedServer: server('Available') }, 'wait ServerLost'],
  ['is found again', 'Lost', bound, 'go Bound'],
  ['is bound again on a retry request', 'Lost', { operation: 'retry' }, 'go Unbound'],
  ...(['present', 'outdated', 'superseded', 'unmarked'] as const).map(
    (boot): Line => [
      `deletes its boot configuration (${boot}) before it is bound again`,
      'Lost',
      { operation: 'retry', boot },
      'act deleteBootConfiguration',
    ],
  ),
  [
    'keeps a boot configuration of another owner on a retry request',
    'Lost',
    { operation: 'retry', boot: 'foreign' },
    'go Unbound',
  ],
  [
    'keeps running when its server refers to it again, despite a retry request',
    'Lost',
    { ...bound, operation: 'retry' },
    'go Bound',
  ],
  ['deletes its boot configuration first', 'deleted', { ...bound, boot: 'superseded' }, 'act deleteBootConfiguration'],
  ['keeps a boot configuration of another owner', 'deleted', { boot: 'foreign' }, 'rest rest'],
  ['stays until its server is released', 'deleted', { ...bound, boot: 'absent' }, 'wait WaitingForRelease'],
  ['is removed when no server refers to it', 'deleted', {}, 'rest rest'],
  [
    'is removed when its server is kept for review and off',
    'deleted',
    { boundServer: server('Released', { reclaimPolicy: 'Retain' }) },
    'rest rest',
  ],
];

for (const [title, phase, facts, decided] of lines) {
  test(`a claim, ${phase}: ${title}`, () => {
    const all = { ...waiting, ...facts };
    const decision = phase === 'deleted' ? decideDeletion(all) : claimTable[phase].decide(all);
    const field = { go: 'phase', act: 'action', wait: 'reason', rest: 'kind' }[decision.kind];
    assert.equal(`${decision.kind} ${String(Reflect.get(decision, field))}`, decided);
  });
}

test('a claim without a matching server is explained again after the given interval', () => {
  const decision = claimTable.Unbound.decide({ ...waiting, explainedForMs: minutes(40) });
  assert.equal(decision.kind === 'wait' && decision.delayMs, minutes(40));
});

for (const [type, reason] of [
  ['BMCReachable', 'AuthenticationFailed'],
  ['Ready', 'BMCNotReady'],
] as const) {
  const blocker = blockedAs(type, reason);
  const facts = { ...waiting, ...bound, boot: 'absent', serving: servingWith(blocker, blocker) } as const;
  const messageOf = (decision: object) => String(Reflect.get(decision, 'message'));

  test(`a deleted claim whose server has ${type} ${reason} names the one way out, in a short message`, () => {
    const message = messageOf(decideDeletion(facts));
    assert.match(message, /\(\w+\); if it is lost for good, delete Server rack1-system-0 to release the claim$/);
    assert.ok(message.length <= 160, message);
  });

  test(`a claim that waits for a reservation names ${type} ${reason} in a short message`, () => {
    const message = messageOf(claimTable.Unbound.decide({ ...facts, boundServer: server('Discovery') }));
    assert.match(message, /the claim waits for Reserved: .*\(\w+\)$/);
    assert.ok(message.length <= 160, message);
  });
}

test('steps of every bring-up are reported after a minute, and what needs a person sooner', () => {
  const delayOf = (reason: 'WaitingForBoot' | 'ServerParked') => {
    const facts = { ...waiting, ...bound, serving: servingWith({ reason, message: '' }) };
    return Reflect.get(claimTable.Bound.decide(facts), 'reportAfterMs');
  };
  assert.deepEqual([delayOf('WaitingForBoot'), delayOf('ServerParked')], [minutes(1), undefined]);
});
