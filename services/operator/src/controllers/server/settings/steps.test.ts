import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '@metal/kube/runtime/durations.ts';
import type { BoundClaim } from '../claim/facts.ts';
import { boundClaim, calmServer, decide } from '../../../../test/server/table.rows.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';

const served: BoundClaim = { ...boundClaim, provisioned: true };
const pendingSetting = { desired: 'Lit', isDone: false, rejection: undefined };
const maintained = (): Partial<ServerFacts> => ({
  maintenance: { ...calmServer.maintenance, state: 'held', name: 'ops/swap' },
});

type Line = [title: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string];

const lines: Line[] = [
  [
    'a setting is not sent if the last observation is old',
    'Available',
    { light: pendingSetting, powerSeenMsAgo: seconds(60) },
    'act observe',
  ],
  [
    'the locator light is set in every phase',
    'Reserved',
    { light: pendingSetting, claim: served, power: 'On' },
    'act setLight',
  ],
  [
    'the locator light is set in Maintenance',
    'Maintenance',
    { ...maintained(), light: pendingSetting },
    'act setLight',
  ],
  [
    'the locator light is not set before the machine was observed',
    'Available',
    { light: pendingSetting, powerSeenMsAgo: undefined },
    'act observe',
  ],
  ['the boot order is set', 'Available', { bootOrder: pendingSetting }, 'act setBootOrder'],
  [
    'a rejected setting is not sent again',
    'Available',
    { light: { ...pendingSetting, isDone: true, rejection: 'no light' } },
    'wait Available',
  ],
];

for (const [title, phase, facts, decided] of lines) {
  test(`${phase}: ${title}`, () => assert.equal(decide(phase, { ...calmServer, ...facts }), decided));
}
