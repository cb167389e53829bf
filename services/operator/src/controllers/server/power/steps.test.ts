import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import { calmServer as calm, decide, boundClaim as held, readyBoot } from '../table.rows.ts';

/**
 * What cannot be taken back needs a young look at the machine, and after a restart of the operator also one that lasts:
 * an earlier process may have asked for a change that has not shown yet.
 */

const deletingClaim = { binding: 'deleting', uid: 'claim-1', name: 'team/one' } as const;
const uncachedClaim = { binding: 'notInCache', uid: 'claim-1', name: 'team/one', restored: false } as const;
const unbooted = { ...held, boot: { ...readyBoot, referenced: false } };
const evicted = { taint: 'sick', since: '2026-01-01T00:00:00Z', dueInMs: 0, verified: true };
const reprovisionedClaim = { ...held, reprovision: true };
const parking = { kind: 'park', value: 'park' } as const;

const report = { state: 'Succeeded', message: '' } as const;
const due = { kind: 'due', devices: ['a'] } as const;
const policy = { disks: 'Purge', bios: 'Reset', bootOrder: 'Reset' } as const;
const cleanup = (more: Partial<ServerFacts['cleanup']>): ServerFacts['cleanup'] => ({
  ...calm.cleanup,
  policy,
  needed: true,
  admitted: true,
  attempt: 1,
  ...more,
});

const irreversible: [title: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string][] = [
  ['a release', 'Reserved', { claim: deletingClaim }, 'act dropClaimRef'],
  ['keeping for review', 'Reserved', { claim: deletingClaim, reclaim: 'Retain' }, 'go Released'],
  ['an eviction', 'Reserved', { claim: held, eviction: evicted }, 'act dropClaimRef'],
  [
    'an eviction that keeps the server for review',
    'Reserved',
    { claim: held, eviction: evicted, reclaim: 'Retain' },
    'act markEvicted',
  ],
  ['parking', 'Available', { operation: parking }, 'act park'],
  ['the adoption by a claim', 'Reserved', { claim: unbooted }, 'act adoptClaimBoot'],
  ['a new beginning', 'Reserved', { claim: reprovisionedClaim }, 'wait Reprovisioning'],
  ['a discovery', 'Initial', {}, 'act prepareProbeBoot'],
  ['a reset of the BIOS', 'Cleanup', { cleanup: cleanup({ bios: { kind: 'due' } }) }, 'act resetBios'],
  ['a restored boot order', 'Cleanup', { cleanup: cleanup({ bootOrder: due, report }) }, 'act restoreBootOrder'],
  ['a certificate', 'Cleanup', { cleanup: cleanup({ report }) }, 'act certifyCleanup'],
];
for (const [title, phase, facts, decided] of irreversible) {
  test(`${title} follows a young look`, () => {
    assert.equal(decide(phase, { ...calm, ...facts }), decided);
    assert.equal(decide(phase, { ...calm, ...facts, powerSeenMsAgo: minutes(180) }), 'act observe');
    assert.equal(decide(phase, { ...calm, ...facts, powerSeenMsAgo: seconds(10) }), 'act observe');
  });
}

for (const [title, phase, facts, decided] of irreversible.slice(0, 5)) {
  test(`${title} waits whether the first Off of this process lasts`, () => {
    const first = { ...calm, ...facts, powerCause: 'unknown' as const };
    assert.equal(decide(phase, { ...first, powerForMs: seconds(2) }), 'wait PowerNotYetConfirmed');
    assert.equal(decide(phase, { ...first, powerForMs: seconds(15), powerSeenMsAgo: seconds(15) }), 'act observe');
    assert.equal(decide(phase, { ...first, powerForMs: seconds(16) }), decided);
  });
}

const rows: [title: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string][] = [
  [
    'a machine at rest is not looked at more often for that',
    'Available',
    { powerSeenMsAgo: minutes(1) },
    'wait Available',
  ],
  [
    'in Error a claim that is not in sight is looked for',
    'Error',
    { claim: uncachedClaim, power: 'On' },
    'act verifyClaim',
  ],
  [
    'before parking a claim that is not in sight is looked for',
    'Reserved',
    { claim: uncachedClaim, power: 'On', operation: parking },
    'act verifyClaim',
  ],
  [
    'a reference of v0.7.0 gets the UID of its claim before anything is done',
    'Reserved',
    { claim: { ...held, uidRecorded: false }, eviction: evicted },
    'act recordClaim',
  ],
  [
    'what somebody else started before the first boot is switched off',
    'Reserved',
    { claim: { ...held, firstBootPending: true }, power: 'On', powerCause: 'unrequested' },
    'act powerOff',
  ],
  [
    'and the first boot follows',
    'Reserved',
    { claim: { ...held, firstBootPending: true }, power: 'Off' },
    'act networkBoot',
  ],
  [
    'what an earlier process may have started runs on',
    'Reserved',
    { claim: held, power: 'On', powerCause: 'unknown' },
    'wait WaitingForBoot',
  ],
];
for (const [title, phase, facts, decided] of rows)
  test(title, () => assert.equal(decide(phase, { ...calm, ...facts }), decided));
