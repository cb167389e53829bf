import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import {
  calmServer as calm,
  decide,
  boundClaim as held,
  readyBoot as boot,
  poweringOff,
  poweringOn,
} from '../../../test/server/table.rows.ts';
import type { ServerFacts, ServerPhase } from './types.ts';

const failed = { reason: 'DiscoveryFailed', message: 'no report' } as const;

/** One case: the decision in a phase with these facts. */
type Line = [title: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string];

const lines: Line[] = [
  [
    'a server with an unreachable BMC waits',
    'Initial',
    { bmc: { isReachable: false, exists: true, reason: 'BMCNotReady', message: 'away' } },
    'wait BMCNotReady',
  ],
  ['a server that was never observed is observed first', 'Initial', { powerSeenMsAgo: undefined }, 'act observe'],
  [
    'the hardware is read first, which observes the machine as well',
    'Initial',
    { inventoryRead: false, powerSeenMsAgo: undefined },
    'act readInventory',
  ],
  [
    'the hardware is not read while the BMC is unreachable',
    'Initial',
    { inventoryRead: false, bmc: { isReachable: false, exists: true, reason: 'BMCNotReady', message: 'away' } },
    'wait BMCNotReady',
  ],
  ['the hardware of a running server is read', 'Initial', { inventoryRead: false, power: 'On' }, 'act readInventory'],
  ['a running server is not interrupted', 'Initial', { power: 'On' }, 'wait RunningServerLeftAlone'],
  [
    'a running server that may be interrupted is powered off',
    'Initial',
    { power: 'On', mayInterrupt: true },
    'act powerOff',
  ],
  [
    'the machine is observed again before a power change if the last observation is old',
    'Initial',
    { power: 'On', mayInterrupt: true, powerSeenMsAgo: seconds(60) },
    'act observe',
  ],
  ['a server that is off gets a probe boot', 'Initial', {}, 'act prepareProbeBoot'],
  [
    'an incomplete probe boot is completed',
    'Initial',
    { probeBoot: { ...boot, referenced: false } },
    'act prepareProbeBoot',
  ],
  [
    'the boot configuration of an earlier attempt is deleted',
    'Initial',
    { probeBoot: boot, discoveryAttempts: 1, mayInterrupt: true },
    'act clearBoot',
  ],
  [
    'an expired boot configuration with the number of this attempt is deleted',
    'Initial',
    { probeBoot: { ...boot, attempt: 1, isExpired: true }, mayInterrupt: true },
    'act clearBoot',
  ],
  ['a reference to a deleted probe boot is cleared', 'Initial', { bootReferenced: true }, 'act clearBoot'],
  [
    'the boot configuration of an earlier Server of the name is deleted',
    'Initial',
    { foreignProbeBoot: 'stale' },
    'act clearBoot',
  ],
  [
    'a boot configuration of another owner is kept',
    'Initial',
    { foreignProbeBoot: 'taken' },
    'wait ProbeBootNameTaken',
  ],
  ['discovery starts when the probe boot is prepared', 'Initial', { probeBoot: boot }, 'go Discovery'],
  ['the last failed attempt leads to Error', 'Initial', { discoveryAttempts: 5, failure: failed }, 'go Error'],
  ['operation retry starts another discovery', 'Error', { operation: { kind: 'retry', value: 'retry' } }, 'go Initial'],
  [
    'the operation annotation is removed',
    'Initial',
    { operation: { kind: 'retry', value: 'retry' } },
    'act consumeOperation',
  ],
  ['a failed server is powered off', 'Error', { discoveryAttempts: 5, power: 'On' }, 'act powerOff'],
  ['a running server is observed periodically', 'Initial', { power: 'On', nextPollInMs: 0 }, 'act observe'],
  [
    'incomplete hardware is read again after 15 minutes',
    'Initial',
    { power: 'On', nextPollInMs: 0, hardwareIncomplete: true, hardwareSeenMsAgo: minutes(15) },
    'act readInventory',
  ],
  [
    'incomplete hardware is read again by a process that has not read it',
    'Initial',
    { power: 'On', nextPollInMs: 0, hardwareIncomplete: true },
    'act readInventory',
  ],
  [
    'incomplete hardware is not read again within 15 minutes',
    'Initial',
    { power: 'On', nextPollInMs: 0, hardwareIncomplete: true, hardwareSeenMsAgo: minutes(14) },
    'act observe',
  ],
  [
    'a server with an unreadable system is not touched',
    'Initial',
    { power: 'On', bmc: { isReachable: false, exists: true, reason: 'SystemUnreadable', message: 'broken' } },
    'wait SystemUnreadable',
  ],
  ['a failed server waits for a person', 'Error', { discoveryAttempts: 5 }, 'wait DiscoveryFailed'],
  ['a claimed server is never discovered', 'Initial', { claim: held }, 'go Reserved'],
  [
    'a claim restored from a backup keeps its server',
    'Initial',
    { claim: { binding: 'notInCache', uid: 'claim-1', name: 'team/one', restored: true } },
    'act adoptRestoredClaim',
  ],
  [
    'a claim with the same name and another UID does not get a reserved server',
    'Reserved',
    { claim: { binding: 'notInCache', uid: 'claim-1', name: 'team/one', restored: true }, power: 'On' },
    'act verifyClaim',
  ],

  [
    'discovery restarts if the server does not refer to its boot configuration',
    'Discovery',
    { probeBoot: { ...boot, referenced: false, state: 'Pending' } },
    'go Initial',
  ],
  [
    'discovery waits for the boot service',
    'Discovery',
    { probeBoot: { ...boot, state: 'Pending' } },
    'wait WaitingForBootConfiguration',
  ],
  [
    'discovery reports the error of the boot service',
    'Discovery',
    { probeBoot: { ...boot, state: 'Error' } },
    'wait BootConfigurationFailed',
  ],
  ['discovery boots from the network', 'Discovery', { probeBoot: boot }, 'act networkBoot'],
  [
    'discovery observes the machine before it starts it',
    'Discovery',
    { probeBoot: boot, powerSeenMsAgo: seconds(60) },
    'act observe',
  ],
  [
    'discovery waits for a slow power-on to complete',
    'Discovery',
    { probeBoot: boot, transition: poweringOn(seconds(3)) },
    'wait WaitingForPowerOn',
  ],
  [
    'discovery polls a slow power-on',
    'Discovery',
    { probeBoot: boot, transition: poweringOn(seconds(3)), nextPollInMs: 0 },
    'act observe',
  ],
  [
    'a power-on that never happens is repeated',
    'Discovery',
    { probeBoot: boot, transition: poweringOn(minutes(3)) },
    'act networkBoot',
  ],
  [
    'boot progress ends the polling',
    'Discovery',
    { probeBoot: { ...boot, bootSeen: true }, transition: poweringOn(seconds(3)), nextPollInMs: 0 },
    'wait WaitingForProbe',
  ],
  [
    'a machine that has reported is powered off before the server is Available',
    'Discovery',
    { probeBoot: boot, report: 'fresh', power: 'On' },
    'act powerOff',
  ],
  [
    'the probe boot is deleted before the server is Available',
    'Discovery',
    { probeBoot: boot, report: 'fresh', power: 'Off' },
    'act clearBoot',
  ],
  ['discovery ends with a report', 'Discovery', { report: 'fresh', power: 'Off' }, 'go Available'],
  [
    'discovery times out without a report',
    'Discovery',
    { probeBoot: boot, inPhaseForMs: minutes(31), power: 'On' },
    'go Initial',
  ],
  [
    'a firmware that is stuck leads to an attempt with another boot method',
    'Discovery',
    { probeBoot: { ...boot, stuck: { message: 'script did not come', nextMethod: 'UefiHttp' } }, power: 'On' },
    'go Initial',
  ],
  [
    'discovery times out while the boot service has not prepared the boot',
    'Discovery',
    { probeBoot: { ...boot, state: 'Pending' }, inPhaseForMs: minutes(31) },
    'go Initial',
  ],
  ['discovery restarts after its boot configuration was deleted', 'Discovery', {}, 'go Initial'],

  ['an unclaimed running server is powered off', 'Available', { power: 'On', probeBoot: boot }, 'act powerOff'],
  [
    'a shutdown is awaited',
    'Available',
    { power: 'On', transition: poweringOff(seconds(3)) },
    'wait WaitingForPowerOff',
  ],
  [
    'an ignored shutdown leads to a forced power-off',
    'Available',
    { power: 'On', transition: poweringOff(minutes(3)) },
    'act forceOff',
  ],
  [
    'a forced power-off is repeated',
    'Available',
    { power: 'On', transition: poweringOff(minutes(3), true) },
    'act forceOff',
  ],
  ['the probe boot is deleted when the machine is off', 'Available', { probeBoot: boot }, 'act clearBoot'],
  ['a dangling boot reference is cleared', 'Available', { bootReferenced: true }, 'act clearBoot'],
  ['an available server is observed periodically', 'Available', { nextPollInMs: 0 }, 'act observe'],
  ['an available server that is off waits', 'Available', {}, 'wait Available'],
  ['a claimed server is reserved', 'Available', { claim: held }, 'go Reserved'],
  ['a server that powers off may be claimed', 'Available', { claim: held, power: 'On' }, 'go Reserved'],

  [
    'a claim without a boot configuration waits',
    'Reserved',
    { claim: { ...held, boot: undefined } },
    'wait WaitingForBootConfiguration',
  ],
  [
    'the boot configuration of the claim is adopted',
    'Reserved',
    { claim: { ...held, boot: { ...boot, referenced: false } } },
    'act adoptClaimBoot',
  ],
  [
    'the machine is not started before its boot configuration is ready',
    'Reserved',
    { claim: { ...held, boot: { ...boot, state: 'Pending' } } },
    'wait WaitingForBootConfiguration',
  ],
  [
    'the error of a boot configuration is reported',
    'Reserved',
    { claim: { ...held, boot: { ...boot, state: 'Error' } } },
    'wait BootConfigurationFailed',
  ],
  ['the first boot of a claim is from the network', 'Reserved', { claim: held }, 'act networkBoot'],
  ['a booting server waits for boot progress', 'Reserved', { claim: held, power: 'On' }, 'wait WaitingForBoot'],
  [
    'a served claim needs no action',
    'Reserved',
    { claim: { ...held, provisioned: true }, power: 'On' },
    'wait ClaimServed',
  ],
  [
    'a provisioned server that lost power starts from its disk',
    'Reserved',
    { claim: { ...held, provisioned: true } },
    'act diskBoot',
  ],
  [
    'a provisioned server starts from its disk without the boot service',
    'Reserved',
    { claim: { ...held, provisioned: true, boot: { ...boot, state: 'Pending' } } },
    'act diskBoot',
  ],
  [
    'a claim with power Off has its server powered off',
    'Reserved',
    { claim: { ...held, wantsPower: 'Off' }, power: 'On' },
    'act powerOff',
  ],
  [
    'the machine of a claim is not forced off by default',
    'Reserved',
    { claim: { ...held, wantsPower: 'Off' }, power: 'On', transition: poweringOff(minutes(3)) },
    'wait ShutdownIgnored',
  ],
  [
    'the machine of a claim is forced off with --enforce-power-off',
    'Reserved',
    { claim: { ...held, wantsPower: 'Off' }, power: 'On', transition: poweringOff(minutes(3)), enforcePowerOff: true },
    'act forceOff',
  ],
  [
    'a claim that is not in the cache is verified first',
    'Reserved',
    { claim: { binding: 'notInCache', uid: 'claim-1', name: 'team/one', restored: false }, power: 'On' },
    'act verifyClaim',
  ],
  [
    'a server of a claim that is being deleted is powered off',
    'Reserved',
    { claim: { binding: 'deleting', uid: 'claim-1', name: 'team/one' }, power: 'On' },
    'act powerOff',
  ],
  [
    'a power-on under way is awaited when the claim is deleted',
    'Reserved',
    {
      claim: { binding: 'deleting', uid: 'claim-1', name: 'team/one' },
      power: 'Off',
      transition: poweringOn(seconds(1)),
    },
    'wait PowerChangeUnderWay',
  ],
  [
    'a power-on that completes after the claim was deleted is reversed',
    'Reserved',
    {
      claim: { binding: 'deleting', uid: 'claim-1', name: 'team/one' },
      power: 'On',
      transition: poweringOn(seconds(1)),
    },
    'act powerOff',
  ],
  [
    'a power-on that does not complete is reversed by force',
    'Reserved',
    {
      claim: { binding: 'deleting', uid: 'claim-1', name: 'team/one' },
      power: 'Off',
      transition: poweringOn(minutes(3)),
    },
    'act forceOff',
  ],
  [
    'a running server is not released',
    'Reserved',
    { claim: { binding: 'lost', uid: 'claim-1', name: 'team/one' }, power: 'On', transition: poweringOff(seconds(3)) },
    'wait WaitingForPowerOff',
  ],
  [
    'a server that is off is released',
    'Reserved',
    { claim: { binding: 'lost', uid: 'claim-1', name: 'team/one' } },
    'act dropClaimRef',
  ],
  [
    'a server with reclaim policy Retain becomes Released',
    'Reserved',
    { claim: { binding: 'deleting', uid: 'claim-1', name: 'team/one' }, reclaim: 'Retain' },
    'go Released',
  ],
  ['a cleared claim reference makes the server Available', 'Reserved', {}, 'go Available'],

  [
    'a released server is powered off',
    'Released',
    { claim: { binding: 'lost', uid: 'claim-1', name: 'team/one' }, power: 'On' },
    'act powerOff',
  ],
  [
    'a released server waits for a person',
    'Released',
    { claim: { binding: 'lost', uid: 'claim-1', name: 'team/one' } },
    'wait KeptForReview',
  ],
  [
    'a released server has its boot reference cleared',
    'Released',
    { claim: { binding: 'lost', uid: 'claim-1', name: 'team/one' }, bootReferenced: true },
    'act clearBoot',
  ],
  ['a released server is Available after its reference was cleared', 'Released', {}, 'go Available'],
];

for (const [title, phase, facts, decided] of lines) {
  test(`${phase}: ${title}`, () => assert.equal(decide(phase, { ...calm, ...facts }), decided));
}
