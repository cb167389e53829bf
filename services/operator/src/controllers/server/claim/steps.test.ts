import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { boundClaim, calmServer, decide, poweringOff, readyBoot } from '../../../../test/server/table.rows.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import type { EvictionFacts } from './eviction-facts.ts';
import type { BoundClaim } from './facts.ts';

const served: BoundClaim = { ...boundClaim, provisioned: true };
const adopted: BoundClaim = {
  ...boundClaim,
  hasNothingToBoot: true,
  adopted: true,
  provisioned: true,
  boot: undefined,
};
const cleanupOf = (disks: 'None' | 'Metadata', facts: Partial<ServerFacts['cleanup']>): ServerFacts['cleanup'] => ({
  ...calmServer.cleanup,
  policy: { disks, bios: disks === 'None' ? 'Reset' : 'None', bootOrder: 'None' },
  ...facts,
});
const evicting = (dueInMs: number): EvictionFacts => ({
  cause: 'taint broken-fan is not tolerated',
  since: '2026-01-01T00:00:00Z',
  dueInMs,
  verified: true,
});

type Line = [title: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string];

const lines: Line[] = [
  [
    'a machine that runs before its first boot is powered off',
    'Reserved',
    { claim: { ...boundClaim, boot: { ...readyBoot, referenced: false } }, power: 'On' },
    'act powerOff',
  ],
  [
    'a machine that runs the image of its claim is not powered off',
    'Reserved',
    { claim: { ...served, boot: { ...readyBoot, referenced: false } }, power: 'On' },
    'act adoptClaimBoot',
  ],
  [
    'spec.power is recorded when the power state is reached',
    'Reserved',
    { claim: { ...served, powerRecorded: false }, power: 'On' },
    'act recordPower',
  ],
  [
    'networkAlways starts the machine from the network',
    'Reserved',
    { claim: { ...served, bootPolicy: 'networkAlways' } },
    'act networkBoot',
  ],
  [
    'networkAlways waits for the boot configuration',
    'Reserved',
    { claim: { ...served, bootPolicy: 'networkAlways', boot: { ...readyBoot, state: 'Pending' } } },
    'wait WaitingForBootConfiguration',
  ],
  [
    'networkAlways does not touch a running machine',
    'Reserved',
    { claim: { ...served, bootPolicy: 'networkAlways', boot: { ...readyBoot, state: 'Pending' } }, power: 'On' },
    'wait ClaimServed',
  ],
  [
    'safeStop keeps a machine off that lost power',
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
    'the record of the earlier boot is removed before the changed image is booted',
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
    'an adopted machine that is on stays on, without a boot configuration',
    'Reserved',
    { claim: adopted, power: 'On' },
    'wait ClaimServed',
  ],
  [
    'an adopted machine that is off is started from its disk if its claim asks for that',
    'Reserved',
    { claim: adopted },
    'act diskBoot',
  ],
  [
    'an adopted machine is shut down if its claim asks for that',
    'Reserved',
    { claim: { ...adopted, wantsPower: 'Off' }, power: 'On' },
    'act powerOff',
  ],
  [
    'the boot of a discovery that was under way is withdrawn',
    'Reserved',
    { claim: adopted, power: 'On', bootReferenced: true },
    'act clearBoot',
  ],
  [
    'a released server that was adopted is discovered if nothing is to be cleaned',
    'Reserved',
    { isUndiscovered: true },
    'go Initial',
  ],
  [
    'a released server that was adopted is cleaned',
    'Reserved',
    { isUndiscovered: true, cleanup: cleanupOf('Metadata', { needed: true, disksKnown: false }) },
    'go Cleanup',
  ],
  [
    'its disks are not known, so it is discovered first',
    'Cleanup',
    { isUndiscovered: true, cleanup: cleanupOf('Metadata', { needed: true, disksKnown: false }) },
    'go Initial',
  ],
  [
    'a policy without disks needs no discovery, but the server is discovered before it is Available',
    'Cleanup',
    { isUndiscovered: true, cleanup: cleanupOf('None', { needed: true, disksKnown: false, clearance: 'Cleaned' }) },
    'go Initial',
  ],

  [
    'an evicted claim keeps its server for the grace period',
    'Reserved',
    { claim: served, power: 'On', eviction: evicting(minutes(5)) },
    'wait ClaimServed',
  ],
  [
    'an evicted machine is powered off after the grace period',
    'Reserved',
    { claim: served, power: 'On', eviction: evicting(0) },
    'act powerOff',
  ],
  [
    'an evicted machine that ignores the shutdown is forced off',
    'Reserved',
    { claim: served, power: 'On', eviction: evicting(0), transition: poweringOff(minutes(3)) },
    'act forceOff',
  ],
  [
    'an evicted server is taken from its claim',
    'Reserved',
    { claim: served, eviction: evicting(0) },
    'act dropClaimRef',
  ],
  [
    'an evicted server with reclaim policy Retain is marked',
    'Reserved',
    { claim: served, eviction: evicting(0), reclaim: 'Retain' },
    'act markEvicted',
  ],
  [
    'an eviction is verified at the API server before the machine is powered off',
    'Reserved',
    { claim: served, power: 'On', eviction: { ...evicting(0), verified: false } },
    'act verifyEviction',
  ],
];

for (const [title, phase, facts, decided] of lines) {
  test(`${phase}: ${title}`, () => assert.equal(decide(phase, { ...calmServer, ...facts }), decided));
}
