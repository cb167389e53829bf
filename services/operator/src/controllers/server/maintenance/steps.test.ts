import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { BoundClaim } from '../claim/facts.ts';
import { boundClaim, calmServer, decide, readyBoot } from '../table.rows.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import type { MaintenanceFacts } from './facts.ts';

const served: BoundClaim = { ...boundClaim, provisioned: true };
const lostClaim = { binding: 'lost', uid: 'claim-1', name: 'team/one' } as const;
const maintained = (more: Partial<MaintenanceFacts> = {}): Partial<ServerFacts> => ({
  maintenance: { ...calmServer.maintenance, state: 'held', name: 'ops/swap', ...more },
});

type Line = [title: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string];

const lines: Line[] = [
  ['a maintenance takes an available server', 'Available', maintained(), 'go Maintenance'],
  [
    'a maintenance takes a server from its discovery',
    'Discovery',
    { ...maintained(), probeBoot: readyBoot },
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
    maintained({ wantsPower: 'On', boot: readyBoot }),
    'act networkBoot',
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
    'a server without a claim is discovered again after a maintenance',
    'Maintenance',
    { hardwareSeenMsAgo: 0 },
    'go Initial',
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
