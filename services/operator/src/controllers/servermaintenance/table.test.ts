import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { BootFacts, MaintenanceFacts, MaintenancePhase } from './facts.ts';
import { decideDeletion, maintenanceTable } from './table.ts';

/** A new maintenance of a free server. */
const fresh: MaintenanceFacts = {
  server: { state: 'Available', reason: 'Available' },
  serverName: 'rack1-system-0',
  holdsServer: false,
  heldBy: undefined,
  hold: undefined,
  ahead: undefined,
  isOwnerUnasked: false,
  limit: 0,
  isLimitReached: false,
  boot: undefined,
  retryRequested: false,
  labelledClaims: [],
  flashedBy: undefined,
};
const holding = { holdsServer: true, server: { state: 'Maintenance', reason: 'MaintenanceServed' } } as const;
const unapproved = { hold: { reason: 'WaitingForApproval', message: 'label it' } } as const;
const boot = (state: BootFacts['state'], referenced = true) => ({
  ...holding,
  boot: { state, referenced, failure: undefined },
});
// Only its existence counts.
const labelledClaims = [{} as ServerClaim];

type Line = [title: string, phase: MaintenancePhase | 'deleted', facts: Partial<MaintenanceFacts>, decided: string];

const lines: Line[] = [
  ['takes a free server', 'Pending', {}, 'act takeServer'],
  ['has the server that refers to it', 'Pending', holding, 'go InMaintenance'],
  [
    'begins when the server that refers to it is in Maintenance',
    'Pending',
    { ...holding, server: { state: 'Available', reason: 'Available' } },
    'wait WaitingForServer',
  ],
  [
    'prepares its image meanwhile',
    'Pending',
    { ...boot('absent'), server: { state: 'Available', reason: 'Available' } },
    'go InMaintenance',
  ],
  ['tells the owner of the claim first', 'Pending', { ...unapproved, isOwnerUnasked: true }, 'act askOwner'],
  ['waits for the approval of the owner', 'Pending', unapproved, 'wait WaitingForApproval'],
  [
    'tells no owner while the server cannot be maintained',
    'Pending',
    { hold: { reason: 'ServerParked', message: 'parked' }, isOwnerUnasked: true },
    'wait ServerParked',
  ],
  ['follows the one that has the server', 'Pending', { heldBy: 'ops/other' }, 'wait OthersFirst'],
  ['follows the one before it', 'Pending', { ahead: 'ops/other' }, 'wait OthersFirst'],
  ['waits for the limit of the fleet', 'Pending', { limit: 2, isLimitReached: true }, 'wait FleetLimitReached'],
  ['is served when its server is in Maintenance', 'InMaintenance', holding, 'rest rest'],
  [
    'is served while its power changes',
    'InMaintenance',
    { ...holding, server: { state: 'Maintenance', reason: 'WaitingForPowerOff' } },
    'rest rest',
  ],
  [
    'waits for a server that is not in Maintenance yet',
    'InMaintenance',
    { ...holding, server: { state: 'Reserved', reason: 'ClaimServed' } },
    'wait WaitingForServer',
  ],
  [
    'reports why its server does not follow',
    'InMaintenance',
    { ...holding, server: { state: 'Maintenance', reason: 'BMCNotReady' } },
    'wait WaitingForServer',
  ],
  ['queues again without its server', 'InMaintenance', { server: undefined }, 'go Pending'],
  ['queues again when the server was taken from it', 'InMaintenance', {}, 'go Pending'],
  ['makes its boot configuration', 'InMaintenance', boot('absent'), 'act writeBoot'],
  ['corrects its boot configuration', 'InMaintenance', boot('outdated'), 'act writeBoot'],
  ['refers the server to its boot configuration', 'InMaintenance', boot('Pending', false), 'act referToBoot'],
  ['waits for the boot service', 'InMaintenance', boot('Pending'), 'wait WaitingForBootService'],
  ['does not use what belongs to others', 'InMaintenance', boot('foreign'), 'wait NameTaken'],
  ['fails with its image', 'InMaintenance', boot('Error'), 'go Failed'],
  ['is served with a prepared image', 'InMaintenance', boot('Ready'), 'rest rest'],
  ['stays Failed', 'Failed', boot('Error'), 'wait BootConfigurationFailed'],
  ['begins again on request', 'Failed', { ...boot('Error'), retryRequested: true }, 'go Pending'],
  ['carries the request out', 'Pending', { ...boot('Error'), retryRequested: true }, 'act retry'],
  ['removes the labels first', 'deleted', { ...boot('Ready'), labelledClaims }, 'act removeLabels'],
  ['removes labels without ever having had the server', 'deleted', { labelledClaims }, 'act removeLabels'],
  ['deletes its boot configuration next', 'deleted', boot('Ready'), 'act deleteBoot'],
  ['deletes no boot configuration of others', 'deleted', boot('foreign'), 'act releaseServer'],
  ['gives the server away last', 'deleted', holding, 'act releaseServer'],
  [
    'keeps its server until a flash ends',
    'deleted',
    { ...holding, labelledClaims, flashedBy: 'BIOSVersion x' },
    'wait UpdateUnderWay',
  ],
  ['of an update that flashes is deleted without the server', 'deleted', { flashedBy: 'BIOSVersion x' }, 'rest rest'],
  ['is deleted without a server', 'deleted', { server: undefined }, 'rest rest'],
];

for (const [title, phase, facts, decided] of lines)
  test(`a maintenance ${title} (${phase})`, () => {
    const all = { ...fresh, ...facts };
    const decision = phase === 'deleted' ? decideDeletion(all) : maintenanceTable[phase].decide(all);
    const field = { go: 'phase', act: 'action', wait: 'reason', rest: 'kind' }[decision.kind];
    assert.equal(`${decision.kind} ${String(Reflect.get(decision, field))}`, decided);
  });
