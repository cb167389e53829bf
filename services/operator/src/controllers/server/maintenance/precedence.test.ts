import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { boundClaim, calmServer, decide, readyBoot } from '../../../../test/server/table.rows.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';

/** What a Server does when a maintenance meets something else: the tables of the page "What comes first". */

const held = { ...calmServer.maintenance, state: 'held', name: 'ops/swap', partsReadMsAgo: 0 } as const;
const served = { ...boundClaim, provisioned: true } as const;
const ended = { hardwareSeenMsAgo: 0 } as const;
const deleting = { binding: 'deleting', uid: 'claim-1', name: 'team/one' } as const;
const eviction = { cause: 'taint broken', since: '2026-01-01T00:00:00Z', dueInMs: 0, verified: true } as const;
const cleanup = {
  ...calmServer.cleanup,
  needed: true,
  policy: { ...calmServer.cleanup.policy, disks: 'Clear' },
} as const;
const unchanged = { ...held, state: 'none', comparison: { kind: 'unchanged' } } as const;

type Line = [row: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string];

const begins: Line[] = [
  ['is new (`Initial`)', 'Initial', { maintenance: held }, 'act prepareProbeBoot'],
  ['is being discovered', 'Discovery', { maintenance: held, probeBoot: readyBoot }, 'go Maintenance'],
  ['is claimed', 'Reserved', { maintenance: held, claim: served, power: 'On' }, 'go Maintenance'],
  ['is about to be evicted', 'Reserved', { maintenance: held, claim: served, power: 'On', eviction }, 'go Maintenance'],
  ['is kept for review', 'Released', { maintenance: held, claim: { ...deleting, binding: 'lost' } }, 'go Maintenance'],
  ['waits for its cleanup', 'Cleanup', { maintenance: held, cleanup }, 'go Maintenance'],
  ['is parked, ignored, or being deleted', 'Parked', { maintenance: held, parked: true }, 'wait Parked'],
  ['failed (`Error`)', 'Error', { maintenance: held }, 'go Maintenance'],
];
const meanwhile: Line[] = [
  [
    'the claim is deleted',
    'Maintenance',
    { maintenance: held, claim: deleting, power: 'On' },
    'wait MaintenanceServed',
  ],
  ['the claim is deleted', 'Maintenance', { ...ended, claim: deleting, power: 'On' }, 'go Reserved'],
  [
    'the eviction of the claim is due',
    'Maintenance',
    { maintenance: held, claim: served, power: 'On', eviction },
    'wait MaintenanceServed',
  ],
  ['the eviction of the claim is due', 'Reserved', { claim: served, power: 'On', eviction }, 'act powerOff'],
  [
    '`operation=park`',
    'Maintenance',
    { maintenance: held, operation: { kind: 'park', value: 'park' } },
    'act deferPark',
  ],
  [
    'resets by annotation',
    'Maintenance',
    { maintenance: held, operation: { kind: 'reset', value: 'hard-restart-server', type: 'ForceRestart' } },
    'act resetMachine',
  ],
  [
    'the BMC fails',
    'Maintenance',
    { maintenance: held, bmc: { isReachable: false, exists: true, reason: 'BMCNotReady', message: '' } },
    'wait BMCNotReady',
  ],
];
const afterwards: Line[] = [
  ['claimed', 'Maintenance', { ...ended, claim: served }, 'go Reserved'],
  [
    'free, with the parts it had before',
    'Maintenance',
    { maintenance: unchanged, stateBeforeMaintenance: 'Cleanup', cleanup },
    'go Cleanup',
  ],
  [
    'free, with the parts it had before',
    'Maintenance',
    { maintenance: unchanged, stateBeforeMaintenance: 'Available' },
    'go Available',
  ],
  ['not discovered before', 'Maintenance', { ...ended, stateBeforeMaintenance: 'Initial' }, 'go Initial'],
];

const page = new URL('../../../../../../docs/operate/maintenance.md', import.meta.url);
for (const [row, phase, facts, decided] of [...begins, ...meanwhile, ...afterwards])
  test(`a maintenance and a server that is ${phase}, "${row}": ${decided}`, async () => {
    assert.equal(decide(phase, { ...calmServer, ...facts }), decided);
    const text = await readFile(page, 'utf8');
    assert.ok(text.includes(`| ${row} |`), 'the page has this row');
  });
