import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { QueueFacts } from '../../../cleanup/queue-position.ts';
import {
  calmServer as calm,
  decide,
  emptyQueue,
  boundClaim,
  readyBoot as boot,
  poweringOn,
} from '../../../../test/server/table.rows.ts';
import { serverTable } from '../table.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import type { CleanupFacts } from './facts.ts';
import { heldMessage } from './hold.ts';
import type { CleanupPolicy } from './policy.ts';

const nothing: CleanupPolicy = { disks: 'None', bios: 'None', bootOrder: 'None' };
const purge: CleanupPolicy = { ...nothing, disks: 'Purge' };
const unclean = (more: Partial<CleanupFacts> = {}): CleanupFacts => ({
  ...calm.cleanup,
  policy: purge,
  needed: true,
  queue: emptyQueue,
  ...more,
});
const admitted = { admitted: true, attempt: 1 } as const;
const underWay = { ...admitted, boot } as const;
const lostClaim = { binding: 'lost', uid: 'claim-1', name: 'team/one' } as const;
const failure = { reason: 'CleanupFailed', message: 'in vain' } as const;
const failedReport = { state: 'Failed', message: 'disk A' } as const;
const succeeded = { state: 'Succeeded', message: '' } as const;
const unreachable = { isReachable: false, exists: true, reason: 'BMCNotReady', message: '' } as const;
const order = { requestedTime: '2026-01-01T00:00:00.000Z', task: undefined } as const;
const requested = { kind: 'requested', ...order, nextPollInMs: 0, forMs: 0 } as const;
const later = { ...requested, nextPollInMs: 5_000 } as const;
const never = { ...requested, forMs: minutes(30) } as const;
const reset = { kind: 'done', ...order, result: 'Confirmed' } as const;
const rejected = { kind: 'failed', message: 'no' } as const;
const due = { kind: 'due', devices: ['a'] } as const;
const sent = { kind: 'requested', devices: ['a'], nextPollInMs: 5_000, forMs: 0 } as const;
const lost = { ...sent, nextPollInMs: 0 } as const;
const neverShown = { ...sent, forMs: minutes(30) } as const;
const biosOnly: CleanupPolicy = { ...nothing, bios: 'Reset' };
const on = { power: 'On', cleanup: unclean() } as const;
const rediscover = { kind: 'rediscover', value: 'rediscover' } as const;
const retry = { kind: 'retry', value: 'retry' } as const;

/** One case: the decision in a phase with these facts. */
type Line = [title: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string];

const lines: Line[] = [
  ['a released claim', 'Reserved', { cleanup: unclean() }, 'go Cleanup'],
  ['a released claim with policy None', 'Reserved', { cleanup: unclean({ policy: nothing }) }, 'go Available'],
  ['the end of a review', 'Released', { cleanup: unclean() }, 'go Cleanup'],
  ['the end of parking', 'Parked', { cleanup: unclean(), hardwareSeenMsAgo: 0 }, 'go Cleanup'],
  ['a discovery', 'Discovery', { cleanup: unclean(), report: 'fresh' }, 'go Cleanup'],
  ['a clean discovery', 'Discovery', { cleanup: unclean({ needed: false }), report: 'fresh' }, 'go Available'],
  ['a retry', 'Error', { cleanup: unclean(), failure, operation: retry }, 'go Cleanup'],
  ['another discovery', 'Error', { cleanup: unclean(), failure, operation: rediscover }, 'go Initial'],
  ['a retry of a clean server', 'Error', { operation: retry }, 'go Initial'],
  ['a claim reference', 'Cleanup', { cleanup: unclean(), claim: lostClaim }, 'wait CleanupHeldByClaim'],
  [
    'a claim reference on an admitted server',
    'Cleanup',
    { cleanup: unclean(admitted), claim: lostClaim },
    'wait CleanupHeldByClaim',
  ],
  [
    'a claim reference during an attempt',
    'Cleanup',
    { cleanup: unclean(underWay), claim: lostClaim },
    'act recordHeldEvent',
  ],
  ['a claim reference after a success', 'Cleanup', { ...done(), claim: lostClaim }, 'act recordHeldEvent'],
  [
    'a claim reference that an event has reported',
    'Cleanup',
    {
      cleanup: unclean({ ...underWay, lastHeldMessage: heldMessage({ claim: lostClaim, cleanup: unclean(underWay) }) }),
      claim: lostClaim,
    },
    'wait CleanupHeldByClaim',
  ],
  [
    'a claim reference that was cleared',
    'Cleanup',
    { cleanup: unclean({ ...underWay, withdrawn: true }) },
    'wait CleanupBeginsAnew',
  ],
  [
    'a claim reference that was cleared after the timeout of the last attempt',
    'Cleanup',
    { cleanup: unclean({ ...underWay, withdrawn: true, attempt: 3, noProgressForMs: minutes(60) }), failure },
    'wait CleanupBeginsAnew',
  ],
  [
    'the mark of an earlier Server at the BMC',
    'Cleanup',
    { cleanup: unclean({ marksEarlierServer: true }) },
    'act removeBmcMark',
  ],
  ['a running machine', 'Cleanup', on, 'act powerOff'],
  ['an old observation', 'Cleanup', { cleanup: unclean(), powerSeenMsAgo: minutes(2) }, 'act observe'],
  ['a power-on under way', 'Cleanup', { cleanup: unclean(), transition: poweringOn(0) }, 'wait PowerChangeUnderWay'],
  [
    'a boot override of unknown origin',
    'Cleanup',
    { cleanup: unclean({ overrideCleared: false }) },
    'act clearOverride',
  ],
  [
    'a boot configuration of an earlier attempt',
    'Cleanup',
    { cleanup: unclean({ otherBootLeft: true }) },
    'act clearBoot',
  ],
  [
    'a boot configuration of another owner',
    'Cleanup',
    { cleanup: unclean(), foreignProbeBoot: 'taken' },
    'wait ProbeBootNameTaken',
  ],
  ['a server without a known inventory', 'Cleanup', { cleanup: unclean({ disksKnown: false }) }, 'go Initial'],
  ['a free place in the limits', 'Cleanup', { cleanup: unclean() }, 'act admitCleanup'],
  [
    'a state that the status does not hold yet',
    'Cleanup',
    { cleanup: unclean({ queue: undefined }) },
    'wait CleanupNeeded',
  ],
  ['a full limit', 'Cleanup', queued({ running: 10 }), 'wait CleanupQueued'],
  ['free places for servers ahead only', 'Cleanup', queued({ running: 8, ahead: 2 }), 'wait CleanupQueued'],
  ['a free place behind the servers ahead', 'Cleanup', queued({ running: 7, ahead: 2 }), 'act admitCleanup'],
  [
    'a free place that the leader assigns',
    'Cleanup',
    { cleanup: unclean({ isAdmittedByLeader: true }) },
    'wait CleanupQueued',
  ],
  ['a full limit of starts', 'Cleanup', queued({ available: 2, ahead: 2 }), 'wait CleanupQueued'],
  ['free starts for the servers ahead and this one', 'Cleanup', queued({ available: 3, ahead: 2 }), 'act admitCleanup'],
  ['a full hourly limit', 'Cleanup', queued({ startedInHour: 60 }), 'wait CleanupQueued'],
  [
    'an admission that the status does not hold yet',
    'Cleanup',
    { cleanup: unclean({ admitted: true }) },
    'wait CleanupStarts',
  ],
  ['an admission', 'Cleanup', { cleanup: unclean(admitted) }, 'act prepareCleanupBoot'],
  ['an incomplete boot configuration', 'Cleanup', half(), 'act prepareCleanupBoot'],
  ['a pending boot configuration', 'Cleanup', booting({ state: 'Pending' }), 'wait WaitingForBootConfiguration'],
  ['a failed boot configuration', 'Cleanup', booting({ state: 'Error' }), 'wait BootConfigurationFailed'],
  ['a ready boot configuration', 'Cleanup', booting({}), 'act networkBoot'],
  ['a booting machine', 'Cleanup', { ...booting({}), power: 'On' }, 'wait WaitingForEraser'],
  ['a running eraser', 'Cleanup', { ...withReport('Running'), power: 'On' }, 'wait ErasingDisks'],
  ['a running eraser on a machine that is off', 'Cleanup', withReport('Running'), 'act networkBoot'],
  [
    'a disk of two servers',
    'Cleanup',
    { cleanup: unclean({ ...admitted, sharedDisk: { wwid: 'naa.6', serverName: 'other' } }) },
    'wait CleanupAttemptFailed',
  ],
  ['a failed eraser', 'Cleanup', withReport('Failed'), 'wait CleanupAttemptFailed'],
  [
    'an eraser without progress until the timeout',
    'Cleanup',
    withoutProgress(minutes(30)),
    'wait CleanupAttemptFailed',
  ],
  [
    'an admitted attempt that did not start until the timeout',
    'Cleanup',
    { cleanup: unclean({ ...admitted, noProgressForMs: minutes(30) }) },
    'wait CleanupAttemptFailed',
  ],
  ['an eraser without progress before the timeout', 'Cleanup', withoutProgress(minutes(30) - 1), 'act networkBoot'],
  ['the failure of the last attempt', 'Cleanup', { ...withReport('Failed'), failure }, 'go Error'],
  ['a success with the machine on', 'Cleanup', { ...done(), power: 'On' }, 'act powerOff'],
  ['a certified success', 'Cleanup', done(), 'go Available'],
  ['a success without a certificate', 'Cleanup', reported(), 'act certifyCleanup'],
  ['a success of a machine that did not run', 'Cleanup', reported({ hasRun: 'no' }), 'wait CleanupAttemptFailed'],
  [
    'a success of a machine that did not run in the last attempt',
    'Cleanup',
    { ...reported({ hasRun: 'no' }), failure },
    'go Error',
  ],
  ['a success of a machine that may have run', 'Cleanup', reported({ hasRun: 'unknown' }), 'act observe'],
  [
    'a success of a machine that may have run, with an unreachable BMC',
    'Cleanup',
    { ...reported({ hasRun: 'unknown' }), bmc: unreachable },
    'wait BMCNotReady',
  ],
  [
    'a success of an attempt that needs no start',
    'Cleanup',
    bootless({ report: succeeded, hasRun: 'no' }),
    'act certifyCleanup',
  ],
  ['a machine that has not run yet', 'Cleanup', { cleanup: unclean({ ...underWay, hasRun: 'no' }) }, 'act networkBoot'],
  ['a success without a certificate, with the machine on', 'Cleanup', { ...reported(), power: 'On' }, 'act powerOff'],
  ['a success with an old observation', 'Cleanup', { ...reported(), powerSeenMsAgo: minutes(2) }, 'act observe'],
  ['a success with a boot override left', 'Cleanup', reported({ overrideCleared: false }), 'act clearOverride'],
  ['a due BIOS reset', 'Cleanup', { cleanup: unclean({ ...admitted, bios: { kind: 'due' } }) }, 'act resetBios'],
  [
    'an accepted BIOS reset',
    'Cleanup',
    { cleanup: unclean({ ...admitted, bios: requested }) },
    'act prepareCleanupBoot',
  ],
  [
    'an accepted BIOS reset with a ready boot',
    'Cleanup',
    { cleanup: unclean({ ...underWay, bios: requested }) },
    'act networkBoot',
  ],
  [
    'a rejected BIOS reset',
    'Cleanup',
    { cleanup: unclean({ ...admitted, bios: rejected }) },
    'wait CleanupAttemptFailed',
  ],
  ['a success with an unobserved BIOS reset', 'Cleanup', reported({ bios: requested }), 'act observeBios'],
  ['a success with a pending BIOS reset', 'Cleanup', reported({ bios: later }), 'wait BIOSResetPending'],
  [
    'a success with a BIOS reset pending until the timeout',
    'Cleanup',
    reported({ bios: never }),
    'wait CleanupAttemptFailed',
  ],
  ['a success with a confirmed BIOS reset', 'Cleanup', reported({ bios: reset }), 'act certifyCleanup'],
  ['a success with the boot order of a claim', 'Cleanup', reported({ bootOrder: due }), 'act restoreBootOrder'],
  ['a success with a boot order that was sent', 'Cleanup', reported({ bootOrder: sent }), 'wait BootOrderPending'],
  ['a success with a boot order that is not shown', 'Cleanup', reported({ bootOrder: lost }), 'act restoreBootOrder'],
  [
    'a success with a boot order that is not shown until the timeout',
    'Cleanup',
    reported({ bootOrder: neverShown }),
    'wait CleanupAttemptFailed',
  ],
  ['an unknown boot order', 'Cleanup', bootless({ bootOrder: rejected }), 'wait CleanupAttemptFailed'],
  ['a policy for the boot order alone', 'Cleanup', bootless({ bootOrder: due }), 'act restoreBootOrder'],
  [
    'a policy for the boot order alone, with the machine on',
    'Cleanup',
    { ...bootless({ bootOrder: due }), power: 'On' },
    'act powerOff',
  ],
  ['a policy for the boot order alone, restored', 'Cleanup', bootless({}), 'act recordCleanup'],
  ['a policy for the boot order alone, recorded', 'Cleanup', bootless({ report: succeeded }), 'act certifyCleanup'],
  [
    'a policy for the boot order alone, not admitted',
    'Cleanup',
    bootless({ attempt: 0, admitted: false }),
    'act admitCleanup',
  ],
  [
    'a policy for the boot order alone, at the timeout',
    'Cleanup',
    bootless({ noProgressForMs: minutes(30) }),
    'wait CleanupAttemptFailed',
  ],
  [
    'an unknown inventory with a policy that erases no disks',
    'Cleanup',
    bootless({ policy: biosOnly, disksKnown: false }),
    'act prepareCleanupBoot',
  ],
  ['an override that a claim left', 'Available', { overrideSeen: true, ...overrideLeft() }, 'act clearOverride'],
  ['an override that was cleared before', 'Available', { overrideSeen: true }, 'wait Available'],
  ['no override', 'Available', overrideLeft(), 'wait Available'],
  ['a policy that changed to None', 'Cleanup', { cleanup: unclean({ policy: nothing }) }, 'go Available'],
  ['a waiver with the machine on', 'Cleanup', { power: 'On', cleanup: unclean({ waiver: 'me' }) }, 'act powerOff'],
  ['a waiver', 'Cleanup', { cleanup: unclean({ waiver: 'me' }) }, 'act recordWaiver'],
  ['a waiver without a text', 'Cleanup', { cleanup: unclean({ waiver: ' ' }) }, 'act dropWaiver'],
  ['a recorded waiver', 'Cleanup', { cleanup: unclean({ clearance: 'Waived' }) }, 'go Available'],
  [
    'a waiver before the cleanup',
    'Reserved',
    { claim: boundClaim, cleanup: unclean({ waiver: 'me' }) },
    'act dropWaiver',
  ],
  ['a running machine after a failure', 'Error', { ...on, failure }, 'act powerOff'],
  ['a boot reference after a failure', 'Error', { cleanup: unclean(), failure, bootReferenced: true }, 'act clearBoot'],
  ['a failed cleanup', 'Error', { cleanup: unclean(), failure }, 'wait CleanupFailed'],
  ['a waiver after a failure', 'Error', { cleanup: unclean({ waiver: 'me' }), failure }, 'act recordWaiver'],
  [
    'a recorded waiver after a failure',
    'Error',
    { cleanup: unclean({ clearance: 'Waived' }), failure },
    'go Available',
  ],
];

for (const [title, phase, facts, decided] of lines) {
  test(`${phase}: ${title} leads to ${decided}`, () => assert.equal(decide(phase, { ...calm, ...facts }), decided));
}

const full = { atOnce: 2, running: 2 };
for (const [queue, message] of [
  [{ ...full, ahead: 9 }, 'number 10 in the queue; as many are being cleaned up as --cleanup-at-once allows (2)'],
  [
    { ...full, ahead: 10 },
    'at least 10 before it in the queue; as many are being cleaned up as --cleanup-at-once allows (2)',
  ],
  [
    { ...full, ahead: 19 },
    'at least 10 before it in the queue; as many are being cleaned up as --cleanup-at-once allows (2)',
  ],
  [
    { ...full, ahead: 4_321 },
    'at least 4000 before it in the queue; as many are being cleaned up as --cleanup-at-once allows (2)',
  ],
  [
    { startedInHour: 60 },
    'number 1 in the queue; as many were let in within an hour as --cleanup-per-hour allows (60)',
  ],
  [{ available: 1, ahead: 1 }, 'number 2 in the queue; those before it are started first'],
] as const)
  test(`a queued server reports "${message}"`, () => {
    const decision = serverTable.Cleanup.decide({ ...calm, ...queued(queue) });
    assert.equal(decision.kind === 'wait' && decision.message, message);
  });

test('a server at place 10,000 of the queue changes its message 35 times until its start', () => {
  const messages = Array.from({ length: 10_000 }, (_, ahead) => {
    const decision = serverTable.Cleanup.decide({ ...calm, ...queued({ ...full, ahead, running: ahead % 3 }) });
    return decision.kind === 'wait' ? decision.message : undefined;
  });
  assert.equal(new Set(messages.slice(2)).size, 35);
});

for (const [bootOrder, expected] of [
  [due, 'its boot order could not be restored within 30 min'],
  [
    { kind: 'done', devices: ['a'], result: 'AsWanted' },
    'its boot order is as wanted, but the cleanup did not end within 30 min',
  ],
  [lost, 'its boot order was accepted and not shown within 30 min'],
] as const)
  test(`an attempt with a boot order in state ${bootOrder.kind} fails at the timeout with "${expected}"`, () => {
    const decision = serverTable.Cleanup.decide({ ...calm, ...bootless({ bootOrder, noProgressForMs: minutes(30) }) });
    assert.match((decision.kind === 'wait' && decision.message) || '', new RegExp(expected));
  });

function queued(queue: Partial<QueueFacts>): Partial<ServerFacts> {
  return { cleanup: unclean({ queue: { ...emptyQueue, ...queue } }) };
}
function half(): Partial<ServerFacts> {
  return { cleanup: unclean({ ...admitted, boot: { ...boot, referenced: false } }) };
}
function booting(more: Partial<typeof boot>): Partial<ServerFacts> {
  return { cleanup: unclean({ ...admitted, boot: { ...boot, ...more } }) };
}
function withReport(state: 'Running' | 'Failed'): Partial<ServerFacts> {
  return { cleanup: unclean({ ...underWay, report: state === 'Failed' ? failedReport : { state, message: '' } }) };
}
function withoutProgress(noProgressForMs: number): Partial<ServerFacts> {
  return { cleanup: unclean({ ...underWay, noProgressForMs }) };
}
function reported(more: Partial<CleanupFacts> = {}): Partial<ServerFacts> {
  return { cleanup: unclean({ ...underWay, report: succeeded, ...more }) };
}
function bootless(more: Partial<CleanupFacts>): Partial<ServerFacts> {
  return { cleanup: unclean({ ...admitted, policy: { ...nothing, bootOrder: 'Reset' }, ...more }) };
}
function overrideLeft(): Partial<ServerFacts> {
  return { cleanup: { ...calm.cleanup, overrideCleared: false } };
}
function done(): Partial<ServerFacts> {
  return { cleanup: unclean({ ...underWay, clearance: 'Cleaned', report: { state: 'Succeeded', message: '' } }) };
}

/** Facts that decisions depend on, each with the values that make a difference. */
const variety: { [Name in keyof ServerFacts]?: readonly ServerFacts[Name][] } = {
  power: ['On', 'Off'],
  powerSeenMsAgo: [100, undefined],
  report: ['absent', 'fresh'],
  parked: [false, true],
  hardwareSeenMsAgo: [0, undefined],
  operation: [{ kind: 'none' }, retry, rediscover, { kind: 'unpark', value: 'unpark' }],
  probeBoot: [undefined, boot],
  failure: [undefined, failure, { reason: 'PowerStuck', message: '' }],
  claim: [{ binding: 'unbound' }, lostClaim, boundClaim, { binding: 'notInCache', uid: '', name: '', restored: false }],
  stateBeforeMaintenance: [undefined, 'Released', 'Available'],
  cleanup: [
    unclean(),
    unclean(admitted),
    unclean(underWay),
    unclean({ ...underWay, report: { state: 'Running', message: '' } }),
    unclean({ ...underWay, report: failedReport }),
    unclean({ ...underWay, report: { state: 'Succeeded', message: '' } }),
    unclean({ ...underWay, withdrawn: true }),
    unclean({ ...underWay, report: succeeded, hasRun: 'no' }),
    unclean({ ...underWay, report: succeeded, hasRun: 'unknown' }),
    unclean({ ...underWay, noProgressForMs: minutes(60) }),
    unclean({ waiver: 'me' }),
    unclean({ ...underWay, report: succeeded, bios: requested }),
    unclean({ ...underWay, report: succeeded, bios: reset, bootOrder: due }),
    unclean({ ...admitted, policy: { ...nothing, bootOrder: 'Reset' } }),
    unclean({ ...admitted, policy: { ...nothing, bootOrder: 'Reset' }, report: succeeded }),
    unclean({ policy: { ...purge, disks: 'Metadata' }, disksKnown: false }),
  ],
};

function* combinations(names: readonly string[]): Generator<Partial<ServerFacts>> {
  const [name, ...others] = names;
  if (name === undefined) return yield {};
  for (const value of variety[name as keyof ServerFacts] ?? []) // names are the keys of variety
    for (const rest of combinations(others)) yield { [name]: value, ...rest };
}

test('no combination of facts leads to Available while the disks are not clean', () => {
  let evaluated = 0;
  for (const facts of combinations(Object.keys(variety))) {
    // Keys of the table are phases.
    for (const phase of Object.keys(serverTable) as ServerPhase[]) {
      evaluated += 1;
      const decision = serverTable[phase].decide({ ...calm, ...facts });
      if (decision.kind !== 'go' || decision.phase !== 'Available') continue;
      assert.fail(`${phase} makes an unclean server Available: ${JSON.stringify(facts)}`);
    }
  }
  assert.ok(evaluated > 100_000, `${evaluated} evaluated`);
});
