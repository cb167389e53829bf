import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import {
  calmServer as calm,
  decide,
  boundClaim as held,
  poweringOff,
  poweringOn,
  readyBoot,
} from '../../../../test/server/table.rows.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';

/**
 * A step that cannot be undone needs a fresh observation. After a restart of the operator the observed state must also last,
 * as an earlier process may have requested a change.
 */

const deletingClaim = { binding: 'deleting', uid: 'claim-1', name: 'team/one' } as const;
const uncachedClaim = { binding: 'notInCache', uid: 'claim-1', name: 'team/one', restored: false } as const;
const unbooted = { ...held, boot: { ...readyBoot, referenced: false } };
const evicted = { cause: 'taint sick is not tolerated', since: '2026-01-01T00:00:00Z', dueInMs: 0, verified: true };
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
  ['a release with reclaim policy Retain', 'Reserved', { claim: deletingClaim, reclaim: 'Retain' }, 'go Released'],
  ['an eviction', 'Reserved', { claim: held, eviction: evicted }, 'act dropClaimRef'],
  [
    'an eviction with reclaim policy Retain',
    'Reserved',
    { claim: held, eviction: evicted, reclaim: 'Retain' },
    'act markEvicted',
  ],
  ['parking', 'Available', { operation: parking }, 'act park'],
  ['the adoption of a claim boot', 'Reserved', { claim: unbooted }, 'act adoptClaimBoot'],
  ['a reprovisioning', 'Reserved', { claim: reprovisionedClaim }, 'wait Reprovisioning'],
  ['a discovery', 'Initial', {}, 'act prepareProbeBoot'],
  ['a reset of the BIOS', 'Cleanup', { cleanup: cleanup({ bios: { kind: 'due' } }) }, 'act resetBios'],
  ['a boot order reset', 'Cleanup', { cleanup: cleanup({ bootOrder: due, report }) }, 'act restoreBootOrder'],
  ['a certificate', 'Cleanup', { cleanup: cleanup({ report }) }, 'act certifyCleanup'],
];
for (const [title, phase, facts, decided] of irreversible) {
  test(`${title} needs a fresh observation`, () => {
    assert.equal(decide(phase, { ...calm, ...facts }), decided);
    assert.equal(decide(phase, { ...calm, ...facts, powerSeenMsAgo: minutes(180) }), 'act observe');
    assert.equal(decide(phase, { ...calm, ...facts, powerSeenMsAgo: seconds(10) }), 'act observe');
  });
}

for (const [title, phase, facts, decided] of irreversible.slice(0, 5)) {
  test(`${title} waits until the first observed Off has lasted`, () => {
    const first = { ...calm, ...facts, powerCause: 'unknown' as const };
    assert.equal(decide(phase, { ...first, powerForMs: seconds(2) }), 'wait PowerNotYetConfirmed');
    assert.equal(decide(phase, { ...first, powerForMs: seconds(15), powerSeenMsAgo: seconds(15) }), 'act observe');
    assert.equal(decide(phase, { ...first, powerForMs: seconds(16) }), decided);
  });
}

const stuck = { reason: 'PowerStuck', message: 'never followed' } as const;

const rows: [title: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string][] = [
  [
    'a machine at rest is not polled more often for the confirmation',
    'Available',
    { powerSeenMsAgo: minutes(1) },
    'wait Available',
  ],
  [
    'a claim that is not in the cache is verified in Error',
    'Error',
    { claim: uncachedClaim, power: 'On' },
    'act verifyClaim',
  ],
  [
    'a claim that is not in the cache is verified before parking',
    'Reserved',
    { claim: uncachedClaim, power: 'On', operation: parking },
    'act verifyClaim',
  ],
  [
    'the UID of the claim is added to a reference of v0.7.0 before any other action',
    'Reserved',
    { claim: { ...held, uidRecorded: false }, eviction: evicted },
    'act recordClaim',
  ],
  [
    'a machine that was started by others before its first boot is powered off',
    'Reserved',
    { claim: { ...held, firstBootPending: true }, power: 'On', powerCause: 'unrequested' },
    'act powerOff',
  ],
  [
    'a machine that was powered off again gets its first boot',
    'Reserved',
    { claim: { ...held, firstBootPending: true }, power: 'Off' },
    'act networkBoot',
  ],
  [
    'a machine that an earlier process may have started is not powered off',
    'Reserved',
    { claim: held, power: 'On', powerCause: 'unknown' },
    'wait WaitingForBoot',
  ],
  [
    'an unrequested power change is awaited first',
    'Reserved',
    { claim: { ...held, provisioned: true }, powerCause: 'unrequested', powerForMs: seconds(2) },
    'wait PowerDrifted',
  ],
  [
    'an unrequested power change is observed again',
    'Reserved',
    {
      claim: { ...held, provisioned: true },
      powerCause: 'unrequested',
      powerForMs: seconds(16),
      powerSeenMsAgo: seconds(16),
    },
    'act observe',
  ],
  [
    'an unrequested power change that lasts is reversed',
    'Reserved',
    { claim: { ...held, provisioned: true }, powerCause: 'unrequested', powerForMs: seconds(16) },
    'act diskBoot',
  ],
  [
    'a machine that never starts ends in Error',
    'Discovery',
    {
      probeBoot: readyBoot,
      failure: stuck,
      transition: { ...poweringOn(minutes(3)), attempts: 5 } as ServerFacts['transition'],
    },
    'go Error',
  ],
  [
    'a machine that never stops ends in Error',
    'Available',
    {
      power: 'On',
      failure: stuck,
      transition: { ...poweringOff(minutes(3), true), attempts: 5 } as ServerFacts['transition'],
    },
    'go Error',
  ],
  [
    'a stuck machine gets no further power request in Error',
    'Error',
    {
      power: 'On',
      failure: stuck,
      transition: { ...poweringOff(minutes(3), true), attempts: 5 } as ServerFacts['transition'],
    },
    'wait PowerStuck',
  ],
  [
    'the machine of a claim is not powered off in Error',
    'Error',
    { power: 'On', failure: stuck, claim: { ...held, provisioned: true } },
    'wait PowerStuck',
  ],
  [
    'a failed claimed server goes back to its claim',
    'Error',
    { operation: { kind: 'retry', value: 'retry' }, claim: { ...held, provisioned: true } },
    'go Reserved',
  ],
  [
    'a machine in an unknown state is not touched',
    'Error',
    { power: 'On', failure: { reason: 'UnknownState', message: 'what' } },
    'wait UnknownState',
  ],
];
for (const [title, phase, facts, decided] of rows)
  test(title, () => assert.equal(decide(phase, { ...calm, ...facts }), decided));
