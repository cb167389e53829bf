import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { BoundClaim } from '../claim/facts.ts';
import { boundClaim, calmServer, decide, poweringOff, readyBoot } from '../table.rows.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import type { OperationFacts } from './facts.ts';

const requested = (kind: 'park' | 'unpark' | 'retry' | 'rediscover' | 'unsupported'): Partial<ServerFacts> => ({
  operation: { kind, value: kind },
});
const reset: OperationFacts = { kind: 'reset', value: 'power-cycle-server', type: 'PowerCycle' };
const interrupted: OperationFacts = { kind: 'interrupted', value: 'power-cycle-server' };
const served: BoundClaim = { ...boundClaim, provisioned: true };
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
  ['operation rediscover is consumed in Initial', 'Initial', requested('rediscover'), 'act consumeOperation'],
];

for (const [title, phase, facts, decided] of lines) {
  test(`${phase}: ${title}`, () => assert.equal(decide(phase, { ...calmServer, ...facts }), decided));
}
