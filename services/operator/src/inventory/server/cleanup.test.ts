import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '@metal/kube/decide.ts';
import type { CleanupFacts } from './cleanup-facts.ts';
import { heldText } from './cleanup-held.ts';
import type { CleanupPolicy } from './cleanup-policy.ts';
import type { ServerFacts, ServerPhase } from './facts.ts';
import type { QueueFacts } from './cleanup-queue.ts';
import { serverPhases } from './phases.ts';
import { calmServer as calm, decide, emptyQueue, heldClaim, readyBoot as boot, turningOn } from './phases.rows.ts';

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
const gone = { standing: 'gone', uid: 'claim-1', name: 'team/one' } as const;
const failure = { reason: 'CleanupFailed', message: 'in vain' } as const;
const failedReport = { state: 'Failed', message: 'disk A' } as const;
const succeeded = { state: 'Succeeded', message: '' } as const;
const away = { answers: false, exists: true, reason: 'BMCNotReady', message: '' } as const;
const order = { requestedTime: '2026-01-01T00:00:00.000Z', task: undefined } as const;
const asked = { kind: 'asked', ...order, nextLookInMs: 0, forMs: 0 } as const;
const later = { ...asked, nextLookInMs: 5_000 } as const;
const never = { ...asked, forMs: minutes(30) } as const;
const reset = { kind: 'done', ...order, result: 'Confirmed' } as const;
const refused = { kind: 'failed', message: 'no' } as const;
const due = { kind: 'due', devices: ['a'] } as const;
const sent = { kind: 'asked', devices: ['a'], nextLookInMs: 5_000, forMs: 0 } as const;
const lost = { ...sent, nextLookInMs: 0 } as const;
const neverShown = { ...sent, forMs: minutes(30) } as const;
const biosOnly: CleanupPolicy = { ...nothing, bios: 'Reset' };
const on = { power: 'On', cleanup: unclean() } as const;
const rediscover = { kind: 'rediscover', word: 'rediscover' } as const;
const retry = { kind: 'retry', word: 'retry' } as const;

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
  ['a claim reference', 'Cleanup', { cleanup: unclean(), claim: gone }, 'wait CleanupHeldByClaim'],
  ['a claim reference, and a place', 'Cleanup', { cleanup: unclean(admitted), claim: gone }, 'wait CleanupHeldByClaim'],
  ['a claim reference, and an order', 'Cleanup', { cleanup: unclean(underWay), claim: gone }, 'act tellHeld'],
  ['a claim reference, and success', 'Cleanup', { ...done(), claim: gone }, 'act tellHeld'],
  [
    'a claim reference, and an order, told',
    'Cleanup',
    { cleanup: unclean({ ...underWay, heldTold: heldText({ claim: gone, cleanup: unclean(underWay) }) }), claim: gone },
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
    { cleanup: unclean({ ...underWay, withdrawn: true, attempt: 3, silentForMs: minutes(60) }), failure },
    'wait CleanupBeginsAnew',
  ],
  ['what an earlier Server was', 'Cleanup', { cleanup: unclean({ marksEarlierServer: true }) }, 'act takeOverMark'],
  ['a running machine', 'Cleanup', on, 'act powerOff'],
  ['an old look', 'Cleanup', { cleanup: unclean(), powerSeenMsAgo: minutes(2) }, 'act observe'],
  ['a power-on under way', 'Cleanup', { cleanup: unclean(), transition: turningOn(0) }, 'wait PowerChangeUnderWay'],
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
  ['no room to start one more', 'Cleanup', queued({ room: 2, ahead: 2 }), 'wait CleanupQueued'],
  ['room for those before and itself', 'Cleanup', queued({ room: 3, ahead: 2 }), 'act admitCleanup'],
  ['a full hour', 'Cleanup', queued({ startedInHour: 60 }), 'wait CleanupQueued'],
  ['a place that is not written down', 'Cleanup', { cleanup: unclean({ admitted: true }) }, 'wait CleanupStarts'],
  ['a place', 'Cleanup', { cleanup: unclean(admitted) }, 'act prepareCleanupBoot'],
  ['half a boot', 'Cleanup', half(), 'act prepareCleanupBoot'],
  ['a boot in preparation', 'Cleanup', booting({ state: 'Pending' }), 'wait WaitingForBootConfiguration'],
  ['a boot that cannot be', 'Cleanup', booting({ state: 'Error' }), 'wait BootConfigurationFailed'],
  ['a boot', 'Cleanup', booting({}), 'act networkBoot'],
  ['a machine that boots', 'Cleanup', { ...booting({}), power: 'On' }, 'wait WaitingForEraser'],
  ['an eraser', 'Cleanup', { ...told('Running'), power: 'On' }, 'wait ErasingDisks'],
  ['an eraser without power', 'Cleanup', told('Running'), 'act networkBoot'],
  [
    'a disk of two servers',
    'Cleanup',
    { cleanup: unclean({ ...admitted, sharedDisk: { wwid: 'naa.6', serverName: 'other' } }) },
    'wait CleanupAttemptFailed',
  ],
  ['an eraser that failed', 'Cleanup', told('Failed'), 'wait CleanupAttemptFailed'],
  ['an eraser that is not heard', 'Cleanup', silent(minutes(30)), 'wait CleanupAttemptFailed'],
  [
    'a place that leads nowhere',
    'Cleanup',
    { cleanup: unclean({ ...admitted, silentForMs: minutes(30) }) },
    'wait CleanupAttemptFailed',
  ],
  ['an eraser that may be heard', 'Cleanup', silent(minutes(30) - 1), 'act networkBoot'],
  ['the last failure', 'Cleanup', { ...told('Failed'), failure }, 'go Error'],
  ['success and power', 'Cleanup', { ...done(), power: 'On' }, 'act powerOff'],
  ['success', 'Cleanup', done(), 'go Available'],
  ['success without a certificate', 'Cleanup', reported(), 'act certifyCleanup'],
  ['success of a machine that did not run', 'Cleanup', reported({ hasRun: 'no' }), 'wait CleanupAttemptFailed'],
  ['success of a machine that did not run, at last', 'Cleanup', { ...reported({ hasRun: 'no' }), failure }, 'go Error'],
  ['success of a machine that may have run', 'Cleanup', reported({ hasRun: 'unknown' }), 'act observe'],
  [
    'success of a machine that may have run, and no BMC',
    'Cleanup',
    { ...reported({ hasRun: 'unknown' }), bmc: away },
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
  ['a BIOS that took it', 'Cleanup', { cleanup: unclean({ ...admitted, bios: asked }) }, 'act prepareCleanupBoot'],
  [
    'a BIOS that took it, and its boot',
    'Cleanup',
    { cleanup: unclean({ ...underWay, bios: asked }) },
    'act networkBoot',
  ],
  [
    'a BIOS that does not',
    'Cleanup',
    { cleanup: unclean({ ...admitted, bios: refused }) },
    'wait CleanupAttemptFailed',
  ],
  ['success, and a BIOS to look at', 'Cleanup', reported({ bios: asked }), 'act lookAtBios'],
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
  ['a boot order that nobody knows', 'Cleanup', bootless({ bootOrder: refused }), 'wait CleanupAttemptFailed'],
  ['the boot order alone', 'Cleanup', bootless({ bootOrder: due }), 'act restoreBootOrder'],
  ['the boot order alone, and power', 'Cleanup', { ...bootless({ bootOrder: due }), power: 'On' }, 'act powerOff'],
  ['the boot order alone, restored', 'Cleanup', bootless({}), 'act recordCleanup'],
  ['the boot order alone, recorded', 'Cleanup', bootless({ report: succeeded }), 'act certifyCleanup'],
  ['the boot order alone, without place', 'Cleanup', bootless({ attempt: 0, admitted: false }), 'act admitCleanup'],
  ['the boot order alone, in vain', 'Cleanup', bootless({ silentForMs: minutes(30) }), 'wait CleanupAttemptFailed'],
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
  ['a waiver beforehand', 'Reserved', { claim: heldClaim, cleanup: unclean({ waiver: 'me' }) }, 'act dropWaiver'],
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
  [{ room: 1, ahead: 1 }, 'number 2 in the queue; those before it are started first'],
] as const)
  test(`what a server in the queue says: ${message}`, () => {
    const decision = serverPhases.Cleanup.judge({ ...calm, ...queued(queue) });
    assert.equal(decision.kind === 'wait' && decision.message, message);
  });

test('on its way from the ten-thousandth place a server says some forty things', () => {
  const said = Array.from({ length: 10_000 }, (_, ahead) => {
    const decision = serverPhases.Cleanup.judge({ ...calm, ...queued({ ...full, ahead, running: ahead % 3 }) });
    return decision.kind === 'wait' ? decision.message : undefined;
  });
  assert.equal(new Set(said.slice(2)).size, 35);
});

for (const [bootOrder, words] of [
  [due, 'its boot order could not be restored within 30 min'],
  [
    { kind: 'done', devices: ['a'], result: 'AsWanted' },
    'its boot order is as wanted, but the cleanup did not end within 30 min',
  ],
  [lost, 'its boot order is not restored within 30 min; the BMC took the order and does not show it'],
] as const)
  test(`an attempt whose time is over with a boot order that is ${bootOrder.kind} fails because ${words}`, () => {
    const decision = serverPhases.Cleanup.judge({ ...calm, ...bootless({ bootOrder, silentForMs: minutes(30) }) });
    assert.match((decision.kind === 'wait' && decision.message) || '', new RegExp(words));
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
function told(state: 'Running' | 'Failed'): Partial<ServerFacts> {
  return { cleanup: unclean({ ...underWay, report: state === 'Failed' ? failedReport : { state, message: '' } }) };
}
function silent(silentForMs: number): Partial<ServerFacts> {
  return { cleanup: unclean({ ...underWay, silentForMs }) };
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
  operation: [{ kind: 'none' }, retry, rediscover, { kind: 'unpark', word: 'unpark' }],
  probeBoot: [undefined, boot],
  failure: [undefined, failure, { reason: 'PowerStuck', message: '' }],
  claim: [{ standing: 'none' }, gone, heldClaim, { standing: 'missing', uid: '', name: '', restored: false }],
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
    unclean({ ...underWay, silentForMs: minutes(60) }),
    unclean({ waiver: 'me' }),
    unclean({ ...underWay, report: succeeded, bios: asked }),
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
  let judged = 0;
  for (const facts of combinations(Object.keys(variety))) {
    // Keys of the table are phases.
    for (const phase of Object.keys(serverPhases) as ServerPhase[]) {
      judged += 1;
      const decision = serverPhases[phase].judge({ ...calm, ...facts });
      if (decision.kind !== 'go' || decision.phase !== 'Available') continue;
      assert.fail(`${phase} offers an unclean server: ${JSON.stringify(facts)}`);
    }
  }
  assert.ok(judged > 100_000, `${judged} judged`);
});
