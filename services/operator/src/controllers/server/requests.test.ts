import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import type { BoundClaim } from './claim/facts.ts';
import { calmServer, decide, boundClaim, readyBoot, poweringOff, poweringOn } from './table.rows.ts';
import type { ServerFacts, ServerPhase } from './types.ts';
import type { OperationFacts } from './operations/facts.ts';
import type { EvictionFacts } from './claim/eviction-facts.ts';
import type { MaintenanceFacts } from './maintenance/facts.ts';

/** One line: what people, maintenances and taints ask of a server in this phase, and what is decided. */
type Line = [title: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string];

const requested = (kind: 'park' | 'unpark' | 'retry' | 'rediscover' | 'unsupported'): Partial<ServerFacts> => ({
  operation: { kind, value: kind },
});
const reset: OperationFacts = { kind: 'reset', value: 'power-cycle-server', type: 'PowerCycle' };
const interrupted: OperationFacts = { kind: 'interrupted', value: 'power-cycle-server' };
const served: BoundClaim = { ...boundClaim, provisioned: true };
const lostClaim = { binding: 'lost', uid: 'claim-1', name: 'team/one' } as const;
const unreachable = { isReachable: false, exists: true, reason: 'BMCNotReady', message: 'away' } as const;
const stuck = { reason: 'PowerStuck', message: 'never followed' } as const;
const maintained = (more: Partial<MaintenanceFacts> = {}): Partial<ServerFacts> => ({
  maintenance: { ...calmServer.maintenance, state: 'held', name: 'ops/swap', ...more },
});
const pendingSetting = { desired: 'Lit', isDone: false, rejection: undefined };
const evicting = (dueInMs: number): EvictionFacts => ({
  taint: 'broken-fan',
  since: '2026-01-01T00:00:00Z',
  dueInMs,
  verified: true,
});

const lines: Line[] = [
  [
    'a free running server is shut down before it is parked',
    'Available',
    { ...requested('park'), power: 'On' },
    'act powerOff',
  ],
  [
    'a claimed server is shut down before it is parked',
    'Reserved',
    { ...requested('park'), claim: served, power: 'On' },
    'act powerOff',
  ],
  ['a server that is off is parked', 'Reserved', { ...requested('park'), claim: served }, 'act park'],
  [
    "a tenant's system that ignores the shutdown is not forced",
    'Reserved',
    { ...requested('park'), claim: served, power: 'On', transition: poweringOff(minutes(3)) },
    'wait ShutdownIgnored',
  ],
  [
    'a free server that ignores the shutdown is forced',
    'Available',
    { ...requested('park'), power: 'On', transition: poweringOff(minutes(3)) },
    'act forceOff',
  ],
  [
    'parking waits for the end of a discovery, and says so',
    'Discovery',
    { ...requested('park'), probeBoot: readyBoot },
    'act deferPark',
  ],
  [
    'it says so once',
    'Discovery',
    { ...requested('park'), parkDeferralReported: true, probeBoot: readyBoot },
    'act networkBoot',
  ],
  ['a marked server is parked, whatever its state said', 'Initial', { parked: true }, 'go Parked'],
  ['a parked server is looked at', 'Parked', { parked: true, nextPollInMs: 0, power: 'On' }, 'act observe'],
  ['a parked server is not switched off', 'Parked', { parked: true, power: 'On' }, 'wait Parked'],
  ['nor is its light switched', 'Parked', { parked: true, light: pendingSetting }, 'wait Parked'],
  ['a request while parked is dropped', 'Parked', { parked: true, operation: reset }, 'act dropParkedOperation'],
  ['a second request to park is dropped', 'Parked', { parked: true, ...requested('park') }, 'act dropParkedOperation'],
  ['unpark is heard', 'Parked', { parked: true, ...requested('unpark') }, 'act unpark'],
  ['unpark without a parked server is consumed', 'Available', requested('unpark'), 'act consumeOperation'],
  ['an unparked server is read anew', 'Parked', { hardwareSeenMsAgo: minutes(5) }, 'act readInventory'],
  ['an unparked server goes back to the pool', 'Parked', { hardwareSeenMsAgo: 0 }, 'go Available'],
  ['an unparked server goes back to its claim', 'Parked', { hardwareSeenMsAgo: 0, claim: served }, 'go Reserved'],

  ['a reset is carried out', 'Reserved', { operation: reset, claim: served, power: 'On' }, 'act resetMachine'],
  ['a reset waits for the BMC', 'Reserved', { operation: reset, bmc: unreachable }, 'wait BMCNotReady'],
  [
    'a reset that nobody knows the end of is not repeated',
    'Reserved',
    { operation: interrupted, claim: served, power: 'On' },
    'act dropInterruptedOperation',
  ],
  ['words of other kinds are dropped', 'Available', requested('unsupported'), 'act dropUnsupportedOperation'],
  ['retry is consumed where nothing failed', 'Available', requested('retry'), 'act consumeOperation'],
  ['a free server is discovered anew on request', 'Available', requested('rediscover'), 'go Initial'],
  ["a tenant's server is not", 'Reserved', { ...requested('rediscover'), claim: served }, 'act rejectRediscovery'],
  ['a failed server may be discovered anew', 'Error', requested('rediscover'), 'go Initial'],
  ['the request is consumed once heard', 'Initial', requested('rediscover'), 'act consumeOperation'],

  ['a maintenance takes an available server', 'Available', maintained(), 'go Maintenance'],
  [
    'a maintenance takes a server from its discovery',
    'Discovery',
    { ...maintained(), probeBoot: readyBoot },
    'go Maintenance',
  ],
  ['a maintenance takes a released server', 'Released', { ...maintained(), claim: lostClaim }, 'go Maintenance'],
  [
    'a new server is looked at before any maintenance',
    'Initial',
    { ...maintained(), powerSeenMsAgo: undefined },
    'act observe',
  ],
  [
    'a maintenance that says nothing of power leaves it',
    'Maintenance',
    { ...maintained(), power: 'On' },
    'wait MaintenanceServed',
  ],
  [
    'a maintenance may want the power off',
    'Maintenance',
    { ...maintained({ wantsPower: 'Off' }), power: 'On' },
    'act powerOff',
  ],
  ['a maintenance may want the power on', 'Maintenance', maintained({ wantsPower: 'On' }), 'act diskBoot'],
  [
    'a maintenance boots its own image',
    'Maintenance',
    maintained({ wantsPower: 'On', boot: readyBoot }),
    'act networkBoot',
  ],
  [
    'not before that is prepared',
    'Maintenance',
    maintained({ wantsPower: 'On', boot: { ...readyBoot, state: 'Pending' } }),
    'wait WaitingForBootConfiguration',
  ],
  [
    'nor what the tenant left, while the image of the maintenance is not in sight',
    'Maintenance',
    maintained({ wantsPower: 'On', missingBoot: 'ops/rescue' }),
    'wait WaitingForBootConfiguration',
  ],
  [
    'off needs no image',
    'Maintenance',
    { ...maintained({ wantsPower: 'Off', missingBoot: 'ops/rescue' }), power: 'On' },
    'act powerOff',
  ],
  [
    'a maintenance that is gone is forgotten',
    'Maintenance',
    maintained({ state: 'dangling' }),
    'act dropMaintenanceRef',
  ],
  ['the next maintenance is waited for', 'Maintenance', maintained({ state: 'pending' }), 'wait MaintenancePending'],
  ['hardware is read after a maintenance', 'Maintenance', { hardwareSeenMsAgo: minutes(5) }, 'act readInventory'],
  ['after a maintenance a free server is discovered anew', 'Maintenance', { hardwareSeenMsAgo: 0 }, 'go Initial'],
  [
    'after a maintenance a claimed server is reserved',
    'Maintenance',
    { hardwareSeenMsAgo: 0, claim: served },
    'go Reserved',
  ],
  [
    'after a maintenance a released server is released',
    'Maintenance',
    { hardwareSeenMsAgo: 0, claim: lostClaim, stateBeforeMaintenance: 'Released' },
    'go Released',
  ],

  ['nothing is set on an old look', 'Available', { light: pendingSetting, powerSeenMsAgo: seconds(60) }, 'act observe'],
  [
    'the light is switched in every phase',
    'Reserved',
    { light: pendingSetting, claim: served, power: 'On' },
    'act setLight',
  ],
  ['in maintenance too', 'Maintenance', { ...maintained(), light: pendingSetting }, 'act setLight'],
  [
    'not before the machine was looked at',
    'Available',
    { light: pendingSetting, powerSeenMsAgo: undefined },
    'act observe',
  ],
  ['the boot order is set', 'Available', { bootOrder: pendingSetting }, 'act setBootOrder'],
  [
    'a setting the BMC refused is not repeated',
    'Available',
    { light: { ...pendingSetting, isDone: true, rejection: 'no light' } },
    'wait Available',
  ],

  [
    'power that drifted is watched first',
    'Reserved',
    { claim: served, powerCause: 'unrequested', powerForMs: seconds(2) },
    'wait PowerDrifted',
  ],
  [
    'and looked at again',
    'Reserved',
    { claim: served, powerCause: 'unrequested', powerForMs: seconds(16), powerSeenMsAgo: seconds(16) },
    'act observe',
  ],
  [
    'and put right when it lasts',
    'Reserved',
    { claim: served, powerCause: 'unrequested', powerForMs: seconds(16) },
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
    'in Error it is not asked again',
    'Error',
    {
      power: 'On',
      failure: stuck,
      transition: { ...poweringOff(minutes(3), true), attempts: 5 } as ServerFacts['transition'],
    },
    'wait PowerStuck',
  ],
  [
    "a tenant's machine is not switched off by an error",
    'Error',
    { power: 'On', failure: stuck, claim: served },
    'wait PowerStuck',
  ],
  ['a failed claimed server goes back to its claim', 'Error', { ...requested('retry'), claim: served }, 'go Reserved'],
  [
    'an unknown state is not touched',
    'Error',
    { power: 'On', failure: { reason: 'UnknownState', message: 'what' } },
    'wait UnknownState',
  ],

  [
    'a machine found on before its first boot is switched off',
    'Reserved',
    { claim: { ...boundClaim, boot: { ...readyBoot, referenced: false } }, power: 'On' },
    'act powerOff',
  ],
  [
    'one that runs what its claim booted is not',
    'Reserved',
    { claim: { ...served, boot: { ...readyBoot, referenced: false } }, power: 'On' },
    'act adoptClaimBoot',
  ],
  [
    'what the claim wants is recorded when it is reached',
    'Reserved',
    { claim: { ...served, powerRecorded: false }, power: 'On' },
    'act recordPower',
  ],
  [
    'networkAlways starts from the network',
    'Reserved',
    { claim: { ...served, bootPolicy: 'networkAlways' } },
    'act networkBoot',
  ],
  [
    'and waits for what it boots',
    'Reserved',
    { claim: { ...served, bootPolicy: 'networkAlways', boot: { ...readyBoot, state: 'Pending' } } },
    'wait WaitingForBootConfiguration',
  ],
  [
    'networkAlways leaves a running machine alone',
    'Reserved',
    { claim: { ...served, bootPolicy: 'networkAlways', boot: { ...readyBoot, state: 'Pending' } }, power: 'On' },
    'wait ClaimServed',
  ],
  [
    'safeStop keeps off what lost power',
    'Reserved',
    { claim: { ...served, bootPolicy: 'safeStop', stopped: true } },
    'wait SafeStop',
  ],
  [
    'a changed image is booted from off',
    'Reserved',
    { claim: { ...boundClaim, reprovision: true }, power: 'On' },
    'act powerOff',
  ],
  [
    'the earlier boot is forgotten first',
    'Reserved',
    { claim: { ...boundClaim, reprovision: true } },
    'wait Reprovisioning',
  ],
  [
    'a changed image that is not prepared changes nothing',
    'Reserved',
    { claim: { ...boundClaim, reprovision: true, boot: { ...readyBoot, state: 'Pending' } }, power: 'On' },
    'wait WaitingForBootConfiguration',
  ],

  [
    'an evicted claim keeps its server for the grace period',
    'Reserved',
    { claim: served, power: 'On', eviction: evicting(minutes(5)) },
    'wait ClaimServed',
  ],
  [
    'then the machine is powered off',
    'Reserved',
    { claim: served, power: 'On', eviction: evicting(0) },
    'act powerOff',
  ],
  [
    'by force if need be',
    'Reserved',
    { claim: served, power: 'On', eviction: evicting(0), transition: poweringOff(minutes(3)) },
    'act forceOff',
  ],
  ['and taken from the claim', 'Reserved', { claim: served, eviction: evicting(0) }, 'act dropClaimRef'],
  [
    'one that is kept for review is marked instead',
    'Reserved',
    { claim: served, eviction: evicting(0), reclaim: 'Retain' },
    'act markEvicted',
  ],
  [
    'nothing is done about it before the API itself has said so',
    'Reserved',
    { claim: served, power: 'On', eviction: { ...evicting(0), verified: false } },
    'act verifyEviction',
  ],
];

for (const [title, phase, facts, decided] of lines) {
  test(`${phase}: ${title}`, () => assert.equal(decide(phase, { ...calmServer, ...facts }), decided));
}
