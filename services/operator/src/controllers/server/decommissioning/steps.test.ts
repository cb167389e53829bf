import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundClaim, calmServer, decide, readyBoot } from '../../../../test/server/table.rows.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import type { DecommissionFacts } from './facts.ts';

const request = { operation: 'decommission', since: '2026-01-01T00:00:00Z' } as const;
const leaving = (more: Partial<DecommissionFacts> = {}, facts: Partial<ServerFacts> = {}): Partial<ServerFacts> => ({
  decommission: { ...calmServer.decommission, request, ...more },
  ...facts,
});
const done = leaving({ isDone: true, completedTime: '2026-01-01T01:00:00Z' });
const erases = {
  ...calmServer.cleanup,
  policy: { disks: 'Clear', bios: 'None', bootOrder: 'None' },
  isLast: true,
} as const;
const lostClaim = { binding: 'lost', uid: 'claim-1', name: 'team/one' } as const;
const maintenance = { ...calmServer.maintenance, state: 'held', name: 'ops/swap', partsReadMsAgo: 0 } as const;
const operation = (kind: 'recommission' | 'retry' | 'park') => ({ kind, value: kind });

type Line = [title: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string];

const lines: Line[] = [
  ['a free server leaves the fleet', 'Available', leaving(), 'go Decommissioning'],
  ['a new server leaves the fleet', 'Initial', leaving(), 'go Decommissioning'],
  ['a server in discovery leaves the fleet', 'Discovery', leaving({}, { probeBoot: readyBoot }), 'go Decommissioning'],
  ['a free server is cleaned up first', 'Available', leaving({}, { cleanup: erases }), 'go Cleanup'],
  [
    'a server is discovered first if its disks are not known',
    'Initial',
    leaving({}, { cleanup: { ...erases, disksKnown: false } }),
    'act prepareProbeBoot',
  ],
  ['a claim keeps its server', 'Reserved', leaving({}, { claim: boundClaim, power: 'On' }), 'wait WaitingForBoot'],
  ['the released server is cleaned up', 'Reserved', leaving({}, { cleanup: erases }), 'go Cleanup'],
  ['the released server leaves without a policy', 'Reserved', leaving(), 'go Decommissioning'],
  ['a server that is kept for review waits', 'Released', leaving({}, { claim: lostClaim }), 'wait KeptForReview'],
  ['a server leaves after its review', 'Released', leaving(), 'go Decommissioning'],
  [
    'a certified cleanup is followed by the rest',
    'Cleanup',
    leaving({}, { cleanup: { ...erases, clearance: 'Cleaned' } }),
    'go Decommissioning',
  ],
  [
    'a decommission goes on when only the mark of the BMC was written',
    'Decommissioning',
    leaving({ isBmcMarked: true }, { bmc: { ...calmServer.bmc, isReachable: false, reason: 'BMCNotReady' } }),
    'act recordDecommissioned',
  ],
  [
    'a failed cleanup stops the decommission',
    'Error',
    leaving({}, { cleanup: erases, failure: { reason: 'CleanupFailed', message: 'no disk' } }),
    'wait CleanupFailed',
  ],
  [
    'a waived cleanup is followed by the rest',
    'Error',
    leaving({}, { cleanup: { ...erases, clearance: 'Waived' }, failure: { reason: 'CleanupFailed', message: '' } }),
    'go Decommissioning',
  ],
  [
    'a failed discovery does not stop it',
    'Error',
    leaving({}, { failure: { reason: 'DiscoveryFailed', message: '' } }),
    'go Decommissioning',
  ],
  [
    'a power failure stops it',
    'Error',
    leaving({}, { failure: { reason: 'PowerStuck', message: '' } }),
    'wait PowerStuck',
  ],
  ['a maintenance comes first', 'Available', leaving({}, { maintenance }), 'go Maintenance'],
  ['a running maintenance ends first', 'Maintenance', leaving({}, { maintenance }), 'wait MaintenanceServed'],
  ['a parked server stays parked', 'Parked', leaving({}, { parked: true }), 'wait Parked'],
  ['an unparked server leaves', 'Parked', leaving({}, { hardwareSeenMsAgo: 0 }), 'go Decommissioning'],

  ['the machine is powered off', 'Decommissioning', leaving({}, { power: 'On' }), 'act powerOff'],
  ['its boot is cleared', 'Decommissioning', leaving({}, { bootReferenced: true }), 'act clearBoot'],
  [
    'an override is cleared',
    'Decommissioning',
    leaving({}, { cleanup: { ...calmServer.cleanup, overrideCleared: false } }),
    'act clearOverride',
  ],
  ['the end is recorded', 'Decommissioning', leaving(), 'act recordDecommissioned'],
  ['the BMC is reset', 'Decommissioning', leaving({ wantsBmcReset: true }), 'act resetBmcToDefaults'],
  [
    'a BMC with another server is not reset',
    'Decommissioning',
    leaving({ wantsBmcReset: true, bmcSharedWith: 'b' }),
    'wait BMCResetHeldBack',
  ],
  [
    'a BMC that refuses its reset stops it',
    'Decommissioning',
    leaving({ wantsBmcReset: true, bmcResetRejection: 'no' }),
    'wait BMCResetRefused',
  ],
  [
    'a BMC is reset once, and not needed afterwards',
    'Decommissioning',
    leaving(
      { wantsBmcReset: true, bmcReset: 'Unknown' },
      { bmc: { isReachable: false, exists: true, reason: 'BMCNotReady', message: '' } },
    ),
    'act recordDecommissioned',
  ],
  [
    'a server that is not clean is cleaned up',
    'Decommissioning',
    leaving({}, { cleanup: { ...erases, isLast: false, needed: true } }),
    'go Cleanup',
  ],
  ['a claimed server is kept', 'Decommissioning', leaving({}, { claim: boundClaim }), 'go Reserved'],
  ['a cancelled one is discovered', 'Decommissioning', {}, 'go Initial'],
  ['it is cancelled', 'Decommissioning', leaving({}, { operation: operation('recommission') }), 'act recommission'],
  [
    'it is not cancelled after the reset of the BMC',
    'Decommissioning',
    leaving({ bmcReset: 'Accepted' }, { operation: operation('recommission') }),
    'act recordDecommissioned',
  ],
  ['the mark of its end leads on', 'Decommissioning', done, 'go Decommissioned'],

  [
    'it is cancelled under a claim',
    'Reserved',
    leaving({}, { operation: operation('recommission') }),
    'act recommission',
  ],
  ['there is nothing to cancel', 'Available', { operation: operation('recommission') }, 'act consumeOperation'],
  ['a restored server stays decommissioned', 'Initial', done, 'go Decommissioned'],
  ['nothing is done', 'Decommissioned', { ...done, power: 'On', powerSeenMsAgo: undefined }, 'wait Decommissioned'],
  ['no maintenance begins', 'Decommissioned', { ...done, maintenance }, 'wait Decommissioned'],
  [
    'no setting is sent',
    'Decommissioned',
    { ...done, light: { desired: 'Lit', isDone: false, rejection: undefined } },
    'wait Decommissioned',
  ],
  ['a lost claim is let go', 'Decommissioned', { ...done, claim: lostClaim }, 'act dropClaimRef'],
  [
    'the mark of the BMC is completed',
    'Decommissioned',
    leaving({ isDone: true, leavesBmc: true }),
    'act recordDecommissioned',
  ],
  [
    'another operation is dropped',
    'Decommissioned',
    { ...done, operation: operation('park') },
    'act dropDecommissionedOperation',
  ],
  ['it comes back', 'Decommissioned', { ...done, operation: operation('recommission') }, 'act recommission'],
  ['it is discovered when it comes back', 'Decommissioned', {}, 'go Initial'],
];

for (const [title, phase, facts, decided] of lines) {
  test(`${phase}: ${title}`, () => assert.equal(decide(phase, { ...calmServer, ...facts }), decided));
}
