import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import type { ServerFacts, ServerPhase } from './types.ts';
import {
  calmServer as calm,
  decide,
  boundClaim as held,
  readyBoot as boot,
  poweringOff,
  poweringOn,
} from './table.rows.ts';

const failed = { reason: 'DiscoveryFailed', message: 'no report' } as const;

/** One line of a table: in this phase, with these facts, this is decided. */
type Line = [title: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string];

const lines: Line[] = [
  [
    'a server whose BMC is away waits for it',
    'Initial',
    { bmc: { isReachable: false, exists: true, reason: 'BMCNotReady', message: 'away' } },
    'wait BMCNotReady',
  ],
  ['a server that was never looked at is looked at', 'Initial', { powerSeenMsAgo: undefined }, 'act observe'],
  [
    'hardware is read from outside first, which is a look at the machine',
    'Initial',
    { inventoryRead: false, powerSeenMsAgo: undefined },
    'act readInventory',
  ],
  [
    'hardware is read when the BMC answers',
    'Initial',
    { inventoryRead: false, bmc: { isReachable: false, exists: true, reason: 'BMCNotReady', message: 'away' } },
    'wait BMCNotReady',
  ],
  ['hardware of a running server is read too', 'Initial', { inventoryRead: false, power: 'On' }, 'act readInventory'],
  ['a running server is left alone', 'Initial', { power: 'On' }, 'wait RunningServerLeftAlone'],
  [
    'a running server that may be interrupted is powered off',
    'Initial',
    { power: 'On', mayInterrupt: true },
    'act powerOff',
  ],
  [
    'power is not changed on an old look',
    'Initial',
    { power: 'On', mayInterrupt: true, powerSeenMsAgo: seconds(60) },
    'act observe',
  ],
  ['a switched-off server gets a probe boot', 'Initial', {}, 'act prepareProbeBoot'],
  [
    'a half-made probe boot is completed',
    'Initial',
    { probeBoot: { ...boot, referenced: false } },
    'act prepareProbeBoot',
  ],
  [
    'the boot of an earlier attempt is dropped',
    'Initial',
    { probeBoot: boot, discoveryAttempts: 1, mayInterrupt: true },
    'act clearBoot',
  ],
  ['a reference to a probe boot that is gone is dropped', 'Initial', { bootReferenced: true }, 'act clearBoot'],
  ['the boot of an earlier server is dropped', 'Initial', { foreignProbeBoot: 'stale' }, 'act clearBoot'],
  ['the boot of somebody else is not', 'Initial', { foreignProbeBoot: 'taken' }, 'wait ProbeBootNameTaken'],
  ['discovery starts when the probe boot is there', 'Initial', { probeBoot: boot }, 'go Discovery'],
  ['too many attempts end in Error', 'Initial', { discoveryAttempts: 5, failure: failed }, 'go Error'],
  ['a person may ask for another try', 'Error', { operation: { kind: 'retry', value: 'retry' } }, 'go Initial'],
  [
    'the request is consumed once heard',
    'Initial',
    { operation: { kind: 'retry', value: 'retry' } },
    'act consumeOperation',
  ],
  ['a failed server is switched off', 'Error', { discoveryAttempts: 5, power: 'On' }, 'act powerOff'],
  ['a running server is looked at now and then', 'Initial', { power: 'On', nextPollInMs: 0 }, 'act observe'],
  [
    'hardware that could not be read is read again with a later look',
    'Initial',
    { power: 'On', nextPollInMs: 0, hardwareIncomplete: true, hardwareSeenMsAgo: minutes(15) },
    'act readInventory',
  ],
  [
    'also by a process that has not read it itself',
    'Initial',
    { power: 'On', nextPollInMs: 0, hardwareIncomplete: true },
    'act readInventory',
  ],
  [
    'but not with each look',
    'Initial',
    { power: 'On', nextPollInMs: 0, hardwareIncomplete: true, hardwareSeenMsAgo: minutes(14) },
    'act observe',
  ],
  [
    'a server whose system alone cannot be read is left as it is',
    'Initial',
    { power: 'On', bmc: { isReachable: false, exists: true, reason: 'SystemUnreadable', message: 'broken' } },
    'wait SystemUnreadable',
  ],
  ['Error waits for a person', 'Error', { discoveryAttempts: 5 }, 'wait DiscoveryFailed'],
  ['a claimed server is never discovered', 'Initial', { claim: held }, 'go Reserved'],
  [
    'a server and a claim from a backup find each other',
    'Initial',
    { claim: { binding: 'notInCache', uid: 'claim-1', name: 'team/one', restored: true } },
    'act adoptRestoredClaim',
  ],
  [
    'a server in use is never given to a namesake of its claim',
    'Reserved',
    { claim: { binding: 'notInCache', uid: 'claim-1', name: 'team/one', restored: true }, power: 'On' },
    'act verifyClaim',
  ],

  [
    'a discovery whose boot the server does not refer to starts over: nobody would prepare it',
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
    'discovery says what the boot service says',
    'Discovery',
    { probeBoot: { ...boot, state: 'Error' } },
    'wait BootConfigurationFailed',
  ],
  ['discovery boots from the network', 'Discovery', { probeBoot: boot }, 'act networkBoot'],
  ['discovery looks before it boots', 'Discovery', { probeBoot: boot, powerSeenMsAgo: seconds(60) }, 'act observe'],
  [
    'discovery waits for a slow power-on',
    'Discovery',
    { probeBoot: boot, transition: poweringOn(seconds(3)) },
    'wait WaitingForPowerOn',
  ],
  [
    'discovery looks at a slow power-on',
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
    'evidence of the boot ends the looking',
    'Discovery',
    { probeBoot: { ...boot, bootSeen: true }, transition: poweringOn(seconds(3)), nextPollInMs: 0 },
    'wait WaitingForProbe',
  ],
  [
    'a machine that has reported is switched off before it is offered',
    'Discovery',
    { probeBoot: boot, report: 'fresh', power: 'On' },
    'act powerOff',
  ],
  [
    'what it booted is cleared away before it is offered',
    'Discovery',
    { probeBoot: boot, report: 'fresh', power: 'Off' },
    'act clearBoot',
  ],
  ['discovery ends with a report', 'Discovery', { report: 'fresh', power: 'Off' }, 'go Available'],
  [
    'discovery without a report ends too',
    'Discovery',
    { probeBoot: boot, inPhaseForMs: minutes(31), power: 'On' },
    'go Initial',
  ],
  [
    'a firmware that is stuck gives another way its turn',
    'Discovery',
    { probeBoot: { ...boot, stuck: { message: 'script did not come', nextMethod: 'UefiHttp' } }, power: 'On' },
    'go Initial',
  ],
  [
    'the deadline counts even if the boot service never answers',
    'Discovery',
    { probeBoot: { ...boot, state: 'Pending' }, inPhaseForMs: minutes(31) },
    'go Initial',
  ],
  ['a deleted probe boot starts over', 'Discovery', {}, 'go Initial'],

  ['an unclaimed running server is powered off', 'Available', { power: 'On', probeBoot: boot }, 'act powerOff'],
  [
    'a shutdown is waited for',
    'Available',
    { power: 'On', transition: poweringOff(seconds(3)) },
    'wait WaitingForPowerOff',
  ],
  ['an ignored shutdown is forced', 'Available', { power: 'On', transition: poweringOff(minutes(3)) }, 'act forceOff'],
  [
    'a forced power-off is repeated, not given up',
    'Available',
    { power: 'On', transition: poweringOff(minutes(3), true) },
    'act forceOff',
  ],
  ['the probe boot goes when the machine is off', 'Available', { probeBoot: boot }, 'act clearBoot'],
  ['a reference that leads nowhere goes too', 'Available', { bootReferenced: true }, 'act clearBoot'],
  ['an available server is looked at now and then', 'Available', { nextPollInMs: 0 }, 'act observe'],
  ['an available server says so', 'Available', {}, 'wait Available'],
  ['a claimed server is reserved', 'Available', { claim: held }, 'go Reserved'],
  ['a claim of a server that just powers off is honoured', 'Available', { claim: held, power: 'On' }, 'go Reserved'],

  [
    'a claim without a boot configuration is waited for',
    'Reserved',
    { claim: { ...held, boot: undefined } },
    'wait WaitingForBootConfiguration',
  ],
  [
    "the claim's boot configuration is adopted",
    'Reserved',
    { claim: { ...held, boot: { ...boot, referenced: false } } },
    'act adoptClaimBoot',
  ],
  [
    'no power-on without a ready boot configuration',
    'Reserved',
    { claim: { ...held, boot: { ...boot, state: 'Pending' } } },
    'wait WaitingForBootConfiguration',
  ],
  [
    'a failed boot configuration is explained',
    'Reserved',
    { claim: { ...held, boot: { ...boot, state: 'Error' } } },
    'wait BootConfigurationFailed',
  ],
  ['the first boot of a claim is from the network', 'Reserved', { claim: held }, 'act networkBoot'],
  ['a booting server waits for evidence', 'Reserved', { claim: held, power: 'On' }, 'wait WaitingForBoot'],
  [
    'a served claim is left in peace',
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
    'a provisioned server starts although the boot service is gone',
    'Reserved',
    { claim: { ...held, provisioned: true, boot: { ...boot, state: 'Pending' } } },
    'act diskBoot',
  ],
  [
    'a claim may want the power off',
    'Reserved',
    { claim: { ...held, wantsPower: 'Off' }, power: 'On' },
    'act powerOff',
  ],
  [
    "a tenant's shutdown is not forced unasked",
    'Reserved',
    { claim: { ...held, wantsPower: 'Off' }, power: 'On', transition: poweringOff(minutes(3)) },
    'wait ShutdownIgnored',
  ],
  [
    "a tenant's shutdown is forced when the flag says so",
    'Reserved',
    { claim: { ...held, wantsPower: 'Off' }, power: 'On', transition: poweringOff(minutes(3)), enforcePowerOff: true },
    'act forceOff',
  ],
  [
    'a claim that is not in sight is looked for first',
    'Reserved',
    { claim: { binding: 'notInCache', uid: 'claim-1', name: 'team/one', restored: false }, power: 'On' },
    'act verifyClaim',
  ],
  [
    'a claim that goes has its server powered off',
    'Reserved',
    { claim: { binding: 'deleting', uid: 'claim-1', name: 'team/one' }, power: 'On' },
    'act powerOff',
  ],
  [
    'a claim deleted while its server powers on',
    'Reserved',
    {
      claim: { binding: 'deleting', uid: 'claim-1', name: 'team/one' },
      power: 'Off',
      transition: poweringOn(seconds(1)),
    },
    'wait PowerChangeUnderWay',
  ],
  [
    'a power-on that shows after its claim left is taken back',
    'Reserved',
    {
      claim: { binding: 'deleting', uid: 'claim-1', name: 'team/one' },
      power: 'On',
      transition: poweringOn(seconds(1)),
    },
    'act powerOff',
  ],
  [
    'a power-on that never shows is taken back by force',
    'Reserved',
    {
      claim: { binding: 'deleting', uid: 'claim-1', name: 'team/one' },
      power: 'Off',
      transition: poweringOn(minutes(3)),
    },
    'act forceOff',
  ],
  [
    'a running server is not given back',
    'Reserved',
    { claim: { binding: 'lost', uid: 'claim-1', name: 'team/one' }, power: 'On', transition: poweringOff(seconds(3)) },
    'wait WaitingForPowerOff',
  ],
  [
    'a switched-off server is given back',
    'Reserved',
    { claim: { binding: 'lost', uid: 'claim-1', name: 'team/one' } },
    'act dropClaimRef',
  ],
  [
    'a server to be kept is kept',
    'Reserved',
    { claim: { binding: 'deleting', uid: 'claim-1', name: 'team/one' }, reclaim: 'Retain' },
    'go Released',
  ],
  ['a cleared reference frees the server', 'Reserved', {}, 'go Available'],

  [
    'a kept server stays off',
    'Released',
    { claim: { binding: 'lost', uid: 'claim-1', name: 'team/one' }, power: 'On' },
    'act powerOff',
  ],
  [
    'a kept server waits for a person',
    'Released',
    { claim: { binding: 'lost', uid: 'claim-1', name: 'team/one' } },
    'wait KeptForReview',
  ],
  [
    'a kept server has nothing to boot',
    'Released',
    { claim: { binding: 'lost', uid: 'claim-1', name: 'team/one' }, bootReferenced: true },
    'act clearBoot',
  ],
  ['a reviewed server is available again', 'Released', {}, 'go Available'],
];

for (const [title, phase, facts, decided] of lines) {
  test(`${phase}: ${title}`, () => assert.equal(decide(phase, { ...calm, ...facts }), decided));
}
