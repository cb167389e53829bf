import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { Inventory } from '@metal/redfish/resources/inventory.ts';
import { boundClaim, calmServer, decide } from '../../../../test/server/table.rows.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import { replacementOf } from './facts.ts';

// Only its presence counts.
const hardware = {} as Inventory;
const unreachable = { isReachable: false, exists: true, reason: 'BMCNotReady', message: '' } as const;

const lines: [title: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string][] = [
  ['a new mainboard is accepted', 'Available', { replacement: 'requested' }, 'act acceptSystemUuid'],
  [
    'a new mainboard is accepted before the machine is looked at',
    'Reserved',
    { replacement: 'requested', claim: boundClaim, powerSeenMsAgo: undefined },
    'act acceptSystemUuid',
  ],
  ['the hardware is read anew', 'Available', { replacement: 'accepted' }, 'act readInventory'],
  [
    'the hardware is read anew if it was read before',
    'Available',
    { replacement: 'accepted', hardwareSeenMsAgo: minutes(5) },
    'act readInventory',
  ],
  [
    'the hardware is reported first',
    'Available',
    { replacement: 'accepted', hardwareSeenMsAgo: 0, hardware },
    'wait HardwareMayHaveChanged',
  ],
  ['the request is removed', 'Available', { replacement: 'accepted', hardwareSeenMsAgo: 0 }, 'act finishReplacement'],
  [
    'a BMC that does not answer is awaited',
    'Available',
    { replacement: 'requested', bmc: unreachable },
    'wait BMCNotReady',
  ],
  ['a parked server is left as it is', 'Parked', { replacement: 'requested', parked: true }, 'wait Parked'],
];
for (const [title, phase, facts, decided] of lines)
  test(`${phase}: ${title}`, () => assert.equal(decide(phase, { ...calmServer, ...facts }), decided));

for (const [uuid, expected] of [
  [undefined, 'none'],
  ['B', 'requested'],
  ['a', 'accepted'],
] as const)
  test(`with ${uuid ?? 'no UUID'} confirmed, a replacement is ${expected}`, () => {
    const annotations = uuid === undefined ? {} : { 'metal.ironcore.dev/accept-system-uuid': uuid };
    assert.equal(replacementOf({ metadata: { name: 'one', annotations }, spec: { systemUUID: 'A' } }), expected);
  });
