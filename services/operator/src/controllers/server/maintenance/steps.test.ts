import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { BoundClaim } from '../claim/facts.ts';
import { boundClaim, calmServer, decide, poweringOff, readyBoot } from '../../../../test/server/table.rows.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import type { MaintenanceFacts } from './facts.ts';
import { maintenanceStep } from './steps.ts';

const served: BoundClaim = { ...boundClaim, provisioned: true };
const lostClaim = { binding: 'lost', uid: 'claim-1', name: 'team/one' } as const;
const unchanged = { kind: 'unchanged' } as const;
const leaving = (
  comparison: MaintenanceFacts['comparison'] = unchanged,
  stateBeforeMaintenance = 'Available',
): Partial<ServerFacts> => ({
  stateBeforeMaintenance,
  maintenance: { ...calmServer.maintenance, partsReadMsAgo: 0, comparison },
});
const lossOfDrive = {
  kind: 'worse',
  message: 'drive NVMe/Disk.1 is gone',
} as const;
const maintained = (more: Partial<MaintenanceFacts> = {}): Partial<ServerFacts> => ({
  maintenance: { ...calmServer.maintenance, state: 'held', name: 'ops/swap', ...more },
});

type Line = [title: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string];

const lines: Line[] = [
  ['the parts are read before a maintenance', 'Available', maintained(), 'act readParts'],
  ['a maintenance takes an available server', 'Available', maintained({ partsReadMsAgo: 0 }), 'go Maintenance'],
  [
    'an unreachable BMC delays no maintenance',
    'Available',
    { ...maintained(), bmc: { isReachable: false, exists: true, reason: 'BMCNotReady', message: '' } },
    'go Maintenance',
  ],
  ['a parked server stays parked for a maintenance', 'Parked', { ...maintained(), parked: true }, 'wait Parked'],
  [
    'a maintenance takes a server from its discovery',
    'Discovery',
    { ...maintained({ partsReadMsAgo: 0 }), probeBoot: readyBoot },
    'go Maintenance',
  ],
  ['a maintenance takes a released server', 'Released', { ...maintained(), claim: lostClaim }, 'go Maintenance'],
  [
    'a new server is observed before any maintenance',
    'Initial',
    { ...maintained(), powerSeenMsAgo: undefined },
    'act observe',
  ],
  [
    'a maintenance without a power state does not change the power',
    'Maintenance',
    { ...maintained(), power: 'On' },
    'wait MaintenanceServed',
  ],
  [
    'a maintenance with power Off has the machine powered off',
    'Maintenance',
    { ...maintained({ wantsPower: 'Off' }), power: 'On' },
    'act powerOff',
  ],
  [
    'a maintenance with power On has the machine started',
    'Maintenance',
    maintained({ wantsPower: 'On' }),
    'act diskBoot',
  ],
  [
    'a maintenance boots its own image',
    'Maintenance',
    maintained({ wantsPower: 'On', boot: readyBoot, startedBootUid: readyBoot.uid }),
    'act networkBoot',
  ],
  [
    'the boot of a maintenance is recorded before the machine is started',
    'Maintenance',
    maintained({ wantsPower: 'On', boot: readyBoot }),
    'wait MaintenanceBoots',
  ],
  [
    'a machine that runs something else is powered off for the image of a maintenance',
    'Maintenance',
    { ...maintained({ wantsPower: 'On', boot: readyBoot }), power: 'On' },
    'act powerOff',
  ],
  [
    'the image of a maintenance is not interrupted',
    'Maintenance',
    { ...maintained({ wantsPower: 'On', boot: readyBoot, startedBootUid: readyBoot.uid }), power: 'On' },
    'wait MaintenanceServed',
  ],
  [
    'a machine that does not follow stays in Maintenance',
    'Maintenance',
    {
      ...maintained({ wantsPower: 'Off' }),
      power: 'On',
      transition: { ...poweringOff(minutes(3)), attempts: 5 } as ServerFacts['transition'],
      nextPollInMs: 1,
      failure: { reason: 'PowerStuck', message: 'it does not follow' },
    },
    'wait PowerStuck',
  ],
  [
    'the power state is published before it changes',
    'Maintenance',
    { ...maintained({ wantsPower: 'Off', powerRecorded: false }), power: 'On' },
    'act recordMaintenancePower',
  ],
  [
    'a maintenance waits for its boot configuration',
    'Maintenance',
    maintained({ wantsPower: 'On', boot: { ...readyBoot, state: 'Pending' } }),
    'wait WaitingForBootConfiguration',
  ],
  [
    'a maintenance does not boot from disk while its boot configuration does not exist',
    'Maintenance',
    maintained({ wantsPower: 'On', missingBoot: 'ops/rescue' }),
    'wait WaitingForBootConfiguration',
  ],
  [
    'a maintenance with power Off needs no boot configuration',
    'Maintenance',
    { ...maintained({ wantsPower: 'Off', missingBoot: 'ops/rescue' }), power: 'On' },
    'act powerOff',
  ],
  [
    'a reference to a deleted maintenance is cleared',
    'Maintenance',
    maintained({ state: 'dangling' }),
    'act dropMaintenanceRef',
  ],
  ['a pending maintenance is awaited', 'Maintenance', maintained({ state: 'pending' }), 'wait MaintenancePending'],
  ['the hardware is read after a maintenance', 'Maintenance', { hardwareSeenMsAgo: minutes(5) }, 'act readInventory'],
  [
    'a server whose discovery was interrupted is discovered after a maintenance',
    'Maintenance',
    { hardwareSeenMsAgo: 0, stateBeforeMaintenance: 'Discovery' },
    'go Initial',
  ],
  ['an unchanged server without a claim is Available after a maintenance', 'Maintenance', leaving(), 'go Available'],
  [
    'an unchanged server without a claim is powered off after a maintenance',
    'Maintenance',
    { ...leaving(), power: 'On' },
    'act powerOff',
  ],
  [
    'an unchanged server that needs a cleanup is cleaned up after a maintenance',
    'Maintenance',
    {
      ...leaving(),
      cleanup: { ...calmServer.cleanup, needed: true, policy: { ...calmServer.cleanup.policy, disks: 'Clear' } },
    },
    'go Cleanup',
  ],
  [
    'a changed server without a claim is discovered after a maintenance',
    'Maintenance',
    leaving({ kind: 'changed', difference: 'DIMM DIMM1' }),
    'go Initial',
  ],
  [
    'a server whose parts could not be read is discovered after a maintenance',
    'Maintenance',
    leaving({ kind: 'unknown' }),
    'go Initial',
  ],
  ['a server that lost a part is kept out after a maintenance', 'Maintenance', leaving(lossOfDrive), 'go Error'],
  [
    'the image of a maintenance does not go on under the claim',
    'Maintenance',
    {
      claim: served,
      power: 'On',
      hardwareSeenMsAgo: 0,
      maintenance: { ...calmServer.maintenance, startedBootUid: 'boot-9' },
    },
    'act powerOff',
  ],
  [
    'a claimed server is Reserved after a maintenance',
    'Maintenance',
    { hardwareSeenMsAgo: 0, claim: served },
    'go Reserved',
  ],
  [
    'a released server is Released after a maintenance',
    'Maintenance',
    { hardwareSeenMsAgo: 0, claim: lostClaim, stateBeforeMaintenance: 'Released' },
    'go Released',
  ],
];

for (const [title, phase, facts, decided] of lines) {
  test(`${phase}: ${title}`, () => assert.equal(decide(phase, { ...calmServer, ...facts }), decided));
}

test('the maintenance of an update begins without an event', () => {
  const eventOf = (isOfUpdate: boolean) => {
    const decision = maintenanceStep('Available', { ...calmServer, ...maintained({ partsReadMsAgo: 0, isOfUpdate }) });
    return decision?.kind === 'go' ? decision.event : assert.fail();
  };
  assert.deepEqual([eventOf(true), eventOf(false)], ['none', undefined]);
});
