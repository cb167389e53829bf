import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { CleanupFacts } from './facts.ts';
import { heldMessage } from './hold.ts';
import type { CleanupPolicy } from './policy.ts';
import type { QueueFacts } from '../../../cleanup/queue-position.ts';
import { serverTable } from '../table.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import { calmServer as calm, decide, emptyQueue, boundClaim, readyBoot as boot, poweringOn } from '../table.rows.ts';

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

/** One line of a table: in this phase, with these facts, this is decided. */
type Line = [title: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string];

const lines: Line[] = [
  ['a claim that let go', 'Reserved', { cleanup: unclean() }, 'go Cleanup'],
  ['a claim that let go, by policy None', 'Reserved', { cleanup: unclean({ policy: nothing }) }, 'go Available'],
  ['the end of a review', 'Released', { cleanup: unclean() }, 'go Cleanup'],
  ['the end of parking', 'Parked', { cleanup: unclean(), hardwareSeenMsAgo: 0 }, 'go Cleanup'],
  ['a discovery', 'Discovery', { cleanup: unclean(), report: 'fresh' }, 'go Cleanup'],
  ['a clean discovery', 'Discovery', { cleanup: unclean({ needed: false }), report: 'fresh' }, 'go Available'],
  ['a retry', 'Error', { cleanup: unclean(), failure, operation: retry }, 'go Cleanup'],
  ['another discovery', 'Error', { cleanup: unclean(), failure, operation: rediscover }, 'go Initial'],
  ['a retry of a clean server', 'Error', { operation: retry }, 'go Initial'],
  ['a claim reference', 'Cleanup', { cleanup: unclean(), claim: lostClaim }, 'wait CleanupHeldByClaim'],
  [
    'a claim reference, and a place',
    'Cleanup',
    { cleanup: unclean(admitted), claim: lostClaim },
    'wait CleanupHeldByClaim',
  ],
  [
    'a claim reference, and an order',
    'Cleanup',
    { cleanup: unclean(underWay), claim: lostClaim },
    'act recordHeldEvent',
  ],
  ['a claim reference, and success', 'Cleanup', { ...done(), claim: lostClaim }, 'act recordHeldEvent'],
  [
    'a claim reference, and an order, told',
    'Cleanup',
    {
      cleanup: unclean({ ...underWay, lastHeldMessage: heldMessage({ claim: lostClaim, cleanup: unclean(underWay) }) }),
      claim: lostClaim,
    },
    'wait CleanupHeldByClaim',
  ],
  [
    'a reference that went',
    'Cleanup',
    { cleanup: unclean({ ...underWay, withdrawn: true }) },
    'wait CleanupBeginsAnew',
  ],
  [
    'a reference that went, after long silence in the last attempt',
    'Cleanup',
    { cleanup: unclean({ ...underWay, withdrawn: true, attempt: 3, noProgressForMs: minutes(60) }), failure },
    'wait CleanupBeginsAnew',
  ],
  ['what an earlier Server was', 'Cleanup', { cleanup: unclean({ marksEarlierServer: true }) }, 'act removeBmcMark'],
  ['a running machine', 'Cleanup', on, 'act powerOff'],
  ['an old look', 'Cleanup', { cleanup: unclean(), powerSeenMsAgo: minutes(2) }, 'act observe'],
  ['a power-on under way', 'Cleanup', { cleanup: unclean(), transition: poweringOn(0) }, 'wait PowerChangeUnderWay'],
  ['an override of who knows whom', 'Cleanup', { cleanup: unclean({ overrideCleared: false }) }, 'act clearOverride'],
  ['a boot of before', 'Cleanup', { cleanup: unclean({ otherBootLeft: true }) }, 'act clearBoot'],
  ['a boot of somebody else', 'Cleanup', { cleanup: unclean(), foreignProbeBoot: 'taken' }, 'wait ProbeBootNameTaken'],
  ['disks that nobody knows', 'Cleanup', { cleanup: unclean({ disksKnown: false }) }, 'go Initial'],
  ['a free place', 'Cleanup', { cleanup: unclean() }, 'act admitCleanup'],
  ['a state that is not written', 'Cleanup', { cleanup: unclean({ queue: undefined }) }, 'wait CleanupNeeded'],
  ['no free place', 'Cleanup', queued({ running: 10 }), 'wait CleanupQueued'],
  ['places for those before only', 'Cleanup', queued({ running: 8, ahead: 2 }), 'wait CleanupQueued'],
  ['a place behind those before', 'Cleanup', queued({ running: 7, ahead: 2 }), 'act admitCleanup'],
  [
    'a free place that another replica gives',
    'Cleanup',
    { cleanup: unclean({ isAdmittedByLeader: true }) },
    'wait CleanupQueued',
  ],
  ['no room to start one more', 'Cleanup', queued({ available: 2, ahead: 2 }), 'wait CleanupQueued'],
  ['room for those before and itself', 'Cleanup', queued({ available: 3, ahead: 2 }), 'act admitCleanup'],
  ['a full hour', 'Cleanup', queued({ startedInHour: 60 }), 'wait CleanupQueued'],
  ['a place that is not written down', 'Cleanup', { cleanup: unclean({ admitted: true }) }, 'wait CleanupStarts'],
  ['a place', 'Cleanup', { cleanup: unclean(admitted) }, 'act prepareCleanupBoot'],
  ['half a boot', 'Cleanup', half(), 'act prepareCleanupBoot'],
  ['a boot in preparation', 'Cleanup', booting({ state: 'Pending' }), 'wait WaitingForBootConfiguration'],
  ['a boot that cannot be', 'Cleanup', booting({ state: 'Error' }), 'wait BootConfigurationFailed'],
  ['a boot', 'Cleanup', booting({}), 'act networkBoot'],
  ['a machine that boots', 'Cleanup', { ...booting({}), power: 'On' }, 'wait WaitingForEraser'],
  ['an eraser', 'Cleanup', { ...withReport('Running'), power: 'On' }, 'wait ErasingDisks'],
  ['an eraser without power', 'Cleanup', withReport('Running'), 'act networkBoot'],
  [
    'a disk of two servers',
    'Cleanup',
    { cleanup: unclean({ ...admitted, sharedDisk: { wwid: 'naa.6', serverName: 'other' } }) },
    'wait CleanupAttemptFailed',
  ],
  ['an eraser that failed', 'Cleanup', withReport('Failed'), 'wait CleanupAttemptFailed'],
  ['an eraser that is not heard', 'Cleanup', withoutProgress(minutes(30)), 'wait CleanupAttemptFailed'],
  [
    'a place that leads nowhere',
    'Cleanup',
    { cleanup: unclean({ ...admitted, noProgressForMs: minutes(30) }) },
    'wait CleanupAttemptFailed',
  ],
  ['an eraser that may be heard', 'Cleanup', withoutProgress(minutes(30) - 1), 'act networkBoot'],
  ['the last failure', 'Cleanup', { ...withReport('Failed'), failure }, 'go Error'],
  ['success and power', 'Cleanup', { ...done(), power: 'On' }, 'act powerOff'],
  ['success', 'Cleanup', done(), 'go Available'],
  ['success without a certificate', 'Cleanup', reported(), 'act certifyCleanup'],
  ['success of a machine that did not run', 'Cleanup', reported({ hasRun: 'no' }), 'wait CleanupAttemptFailed'],
  ['success of a machine that did not run, at last', 'Cleanup', { ...reported({ hasRun: 'no' }), failure }, 'go Error'],
  ['success of a machine that may have run', 'Cleanup', reported({ hasRun: 'unknown' }), 'act observe'],
  [
    'success of a machine that may have run, and no BMC',
    'Cleanup',
    { ...reported({ hasRun: 'unknown' }), bmc: unreachable },
    'wait BMCNotReady',
  ],
  [
    'success without a start, as it takes none',
    'Cleanup',
    bootless({ report: succeeded, hasRun: 'no' }),
    'act certifyCleanup',
  ],
  ['a machine that has not run yet', 'Cleanup', { cleanup: unclean({ ...underWay, hasRun: 'no' }) }, 'act networkBoot'],
  ['success without a certificate, and power', 'Cleanup', { ...reported(), power: 'On' }, 'act powerOff'],
  ['success on an old look', 'Cleanup', { ...reported(), powerSeenMsAgo: minutes(2) }, 'act observe'],
  ['success and an override', 'Cleanup', reported({ overrideCleared: false }), 'act clearOverride'],
  ['a BIOS to be reset', 'Cleanup', { cleanup: unclean({ ...admitted, bios: { kind: 'due' } }) }, 'act resetBios'],
  ['a BIOS that took it', 'Cleanup', { cleanup: unclean({ ...admitted, bios: requested }) }, 'act prepareCleanupBoot'],
  [
    'a BIOS that took it, and its boot',
    'Cleanup',
    { cleanup: unclean({ ...underWay, bios: requested }) },
    'act networkBoot',
  ],
  [
    'a BIOS that does not',
    'Cleanup',
    { cleanup: unclean({ ...admitted, bios: rejected }) },
    'wait CleanupAttemptFailed',
  ],
  ['success, and a BIOS to look at', 'Cleanup', reported({ bios: requested }), 'act observeBios'],
  ['success, and a BIOS that takes its time', 'Cleanup', reported({ bios: later }), 'wait BIOSResetPending'],
  ['success, and a BIOS that never does', 'Cleanup', reported({ bios: never }), 'wait CleanupAttemptFailed'],
  ['success, and a reset BIOS', 'Cleanup', reported({ bios: reset }), 'act certifyCleanup'],
  ['success, and the boot order of a claim', 'Cleanup', reported({ bootOrder: due }), 'act restoreBootOrder'],
  ['success, and a boot order that is sent', 'Cleanup', reported({ bootOrder: sent }), 'wait BootOrderPending'],
  ['success, and a boot order that is lost', 'Cleanup', reported({ bootOrder: lost }), 'act restoreBootOrder'],
  [
    'success, and a boot order that never shows',
    'Cleanup',
    reported({ bootOrder: neverShown }),
    'wait CleanupAttemptFailed',
  ],
  ['a boot order that nobody knows', 'Cleanup', bootless({ bootOrder: rejected }), 'wait CleanupAttemptFailed'],
  ['the boot order alone', 'Cleanup', bootless({ bootOrder: due }), 'act restoreBootOrder'],
  ['the boot order alone, and power', 'Cleanup', { ...bootless({ bootOrder: due }), power: 'On' }, 'act powerOff'],
  ['the boot order alone, restored', 'Cleanup', bootless({}), 'act recordCleanup'],
  ['the boot order alone, recorded', 'Cleanup', bootless({ report: succeeded }), 'act certifyCleanup'],
  ['the boot order alone, without place', 'Cleanup', bootless({ attempt: 0, admitted: false }), 'act admitCleanup'],
  ['the boot order alone, in vain', 'Cleanup', bootless({ noProgressForMs: minutes(30) }), 'wait CleanupAttemptFailed'],
  [
    'disks that nobody asks about',
    'Cleanup',
    bootless({ policy: biosOnly, disksKnown: false }),
    'act prepareCleanupBoot',
  ],
  ['an override that a claim left', 'Available', { overrideSeen: true, ...overrideLeft() }, 'act clearOverride'],
  ['an override that stays', 'Available', { overrideSeen: true }, 'wait Available'],
  ['no override', 'Available', overrideLeft(), 'wait Available'],
  ['policy None at last', 'Cleanup', { cleanup: unclean({ policy: nothing }) }, 'go Available'],
  ['a waiver and power', 'Cleanup', { power: 'On', cleanup: unclean({ waiver: 'me' }) }, 'act powerOff'],
  ['a waiver', 'Cleanup', { cleanup: unclean({ waiver: 'me' }) }, 'act recordWaiver'],
  ['a waiver of nobody', 'Cleanup', { cleanup: unclean({ waiver: ' ' }) }, 'act dropWaiver'],
  ['a recorded waiver', 'Cleanup', { cleanup: unclean({ clearance: 'Waived' }) }, 'go Available'],
  ['a waiver beforehand', 'Reserved', { claim: boundClaim, cleanup: unclean({ waiver: 'me' }) }, 'act dropWaiver'],
  ['power after failure', 'Error', { ...on, failure }, 'act powerOff'],
  ['a boot after failure', 'Error', { cleanup: unclean(), failure, bootReferenced: true }, 'act clearBoot'],
  ['failure', 'Error', { cleanup: unclean(), failure }, 'wait CleanupFailed'],
  ['a waiver after failure', 'Error', { cleanup: unclean({ waiver: 'me' }), failure }, 'act recordWaiver'],
  ['a recorded waiver after failure', 'Error', { cleanup: unclean({ clearance: 'Waived' }), failure }, 'go Available'],
];

for (const [title, phase, facts, decided] of lines) {
  test(`${phase}: ${title} → ${decided}`, () => assert.equal(decide(phase, { ...calm, ...facts }), decided));
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
  test(`what a server in the queue says: ${message}`, () => {
    const decision = serverTable.Cleanup.decide({ ...calm, ...queued(queue) });
    assert.equal(decision.kind === 'wait' && decision.message, message);
  });

test('on its way from the ten-thousandth place a server says some forty things', () => {
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
  [lost, 'its boot order is not restored within 30 min; the BMC took the order and does not show it'],
] as const)
  test(`an attempt whose time is over with a boot order that is ${bootOrder.kind} fails because ${expected}`, () => {
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

/** Facts that the rows judge by, each with the values that make a difference somewhere. */
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

test('nothing that is seen leads from any phase to Available while the disks are not clean', () => {
  let evaluated = 0;
  for (const facts of combinations(Object.keys(variety))) {
    // Keys of the table are phases.
    for (const phase of Object.keys(serverTable) as ServerPhase[]) {
      evaluated += 1;
      const decision = serverTable[phase].decide({ ...calm, ...facts });
      if (decision.kind !== 'go' || decision.phase !== 'Available') continue;
      assert.fail(`${phase} offers an unclean server: ${JSON.stringify(facts)}`);
    }
  }
  assert.ok(evaluated > 100_000, `${evaluated} judged`);
});
