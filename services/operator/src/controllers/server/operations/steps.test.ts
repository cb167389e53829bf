import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { BoundClaim } from '../claim/facts.ts';
import { boundClaim, calmServer, decide, poweringOff, readyBoot } from '../../../../test/server/table.rows.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import type { OperationFacts } from './facts.ts';

const requested = (
  kind: 'park' | 'unpark' | 'retry' | 'rediscover' | 'adopt' | 'unsupported',
): Partial<ServerFacts> => ({
  operation: { kind, value: 'requested' },
});
const reset: OperationFacts = { kind: 'reset', value: 'power-cycle-server', type: 'PowerCycle' };
const interrupted: OperationFacts = { kind: 'interrupted', value: 'power-cycle-server' };
const served: BoundClaim = { ...boundClaim, provisioned: true };
const adopting: BoundClaim = { ...boundClaim, hasNothingToBoot: true, boot: undefined };
const unreachable = { isReachable: false, exists: true, reason: 'BMCNotReady', message: 'away' } as const;
const pendingSetting = { desired: 'Lit', isDone: false, rejection: undefined };

type Line = [title: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string];

const lines: Line[] = [
  [
    'an available server that runs is shut down before it is parked',
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
    'the machine of a claim that ignores the shutdown is not forced off',
    'Reserved',
    { ...requested('park'), claim: served, power: 'On', transition: poweringOff(minutes(3)) },
    'wait ShutdownIgnored',
  ],
  [
    'an available server that ignores the shutdown is forced off',
    'Available',
    { ...requested('park'), power: 'On', transition: poweringOff(minutes(3)) },
    'act forceOff',
  ],
  [
    'parking waits for the end of a discovery and reports that',
    'Discovery',
    { ...requested('park'), probeBoot: readyBoot },
    'act deferPark',
  ],
  [
    'the deferral of parking is reported once',
    'Discovery',
    { ...requested('park'), parkDeferralReported: true, probeBoot: readyBoot },
    'act networkBoot',
  ],
  ['a server with the parked mark is parked in any state', 'Initial', { parked: true }, 'go Parked'],
  ['a parked server is observed periodically', 'Parked', { parked: true, nextPollInMs: 0, power: 'On' }, 'act observe'],
  ['a parked server is not powered off', 'Parked', { parked: true, power: 'On' }, 'wait Parked'],
  [
    'the locator light of a parked server is not changed',
    'Parked',
    { parked: true, light: pendingSetting },
    'wait Parked',
  ],
  [
    'an operation on a parked server is dropped',
    'Parked',
    { parked: true, operation: reset },
    'act dropParkedOperation',
  ],
  ['a second request to park is dropped', 'Parked', { parked: true, ...requested('park') }, 'act dropParkedOperation'],
  ['operation unpark ends the parking', 'Parked', { parked: true, ...requested('unpark') }, 'act unpark'],
  [
    'operation unpark on a server that is not parked is consumed',
    'Available',
    requested('unpark'),
    'act consumeOperation',
  ],
  [
    'the hardware of an unparked server is read again',
    'Parked',
    { hardwareSeenMsAgo: minutes(5) },
    'act readInventory',
  ],
  ['an unparked server without a claim is Available', 'Parked', { hardwareSeenMsAgo: 0 }, 'go Available'],
  ['an unparked server goes back to its claim', 'Parked', { hardwareSeenMsAgo: 0, claim: served }, 'go Reserved'],

  ['a reset is carried out', 'Reserved', { operation: reset, claim: served, power: 'On' }, 'act resetMachine'],
  ['a reset waits for the BMC', 'Reserved', { operation: reset, bmc: unreachable }, 'wait BMCNotReady'],
  [
    'a reset with an unknown outcome is not repeated',
    'Reserved',
    { operation: interrupted, claim: served, power: 'On' },
    'act dropInterruptedOperation',
  ],
  ['an unsupported operation is dropped', 'Available', requested('unsupported'), 'act dropUnsupportedOperation'],
  ['operation retry is consumed where nothing failed', 'Available', requested('retry'), 'act consumeOperation'],
  [
    'operation rediscover starts another discovery of an available server',
    'Available',
    requested('rediscover'),
    'go Initial',
  ],
  [
    'operation rediscover is rejected for a reserved server',
    'Reserved',
    { ...requested('rediscover'), claim: served },
    'act rejectRediscovery',
  ],
  ['operation rediscover starts another discovery of a failed server', 'Error', requested('rediscover'), 'go Initial'],
  [
    'a running server that is to be adopted waits for its claim, and is not powered off',
    'Initial',
    { ...requested('adopt'), power: 'On', mayInterrupt: true },
    'wait WaitingForAdoption',
  ],
  [
    'the hardware of a server that is to be adopted is read',
    'Initial',
    { ...requested('adopt'), power: 'On', inventoryRead: false },
    'act readInventory',
  ],
  [
    'no discovery of a server that is to be adopted is prepared',
    'Initial',
    requested('adopt'),
    'wait WaitingForAdoption',
  ],
  [
    'the claim that adopts a server is marked before the server is Reserved',
    'Initial',
    { ...requested('adopt'), power: 'On', claim: adopting },
    'act acceptAdoption',
  ],
  [
    'an available server is adopted in the same way',
    'Available',
    { ...requested('adopt'), claim: adopting },
    'act acceptAdoption',
  ],
  [
    'a claim that got an image meanwhile adopts nothing',
    'Initial',
    { ...requested('adopt'), power: 'On', claim: boundClaim },
    'wait AdoptionBootsNothing',
  ],
  [
    'a claim that is not seen yet is awaited before the adoption',
    'Initial',
    { ...requested('adopt'), power: 'On', claim: { ...adopting, binding: 'notInCache', restored: false } },
    'act verifyClaim',
  ],
  [
    'a claim that is deleted before the adoption leaves the machine as it is',
    'Initial',
    { ...requested('adopt'), power: 'On', claim: { ...adopting, binding: 'deleting' } },
    'act dropClaimRef',
  ],
  [
    'operation adopt is rejected for a reserved server',
    'Reserved',
    { ...requested('adopt'), power: 'On', claim: served },
    'act rejectAdoption',
  ],
  ['operation adopt is rejected during a discovery', 'Discovery', requested('adopt'), 'act rejectAdoption'],
  ['operation rediscover is consumed in Initial', 'Initial', requested('rediscover'), 'act consumeOperation'],
];

for (const [title, phase, facts, decided] of lines) {
  test(`${phase}: ${title}`, () => assert.equal(decide(phase, { ...calmServer, ...facts }), decided));
}
