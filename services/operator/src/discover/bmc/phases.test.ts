import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BmcFacts, BmcPhase } from './facts.ts';
import { bmcPhases } from './phases.ts';

const seen = { at: 0, manager: undefined, systems: [] };
const connected: BmcFacts = {
  ip: '192.0.2.1',
  macAddress: undefined,
  connection: undefined,
  obstacle: undefined,
  failure: undefined,
  observation: seen,
  nextLookInMs: 60_000,
  managerRecorded: true,
  systems: { create: [], update: [], refused: [] },
};
const failure = (retryInMs: number, needsHuman = false): BmcFacts['failure'] => ({
  reason: 'Unreachable',
  message: 'away',
  needsHuman,
  retryInMs,
});
const obstacle = { reason: 'BMCSecretNotFound', message: 'create it' };
const system = { name: 'bmc-system-0', systemUUID: 'u', systemURI: '/redfish/v1/Systems/1' };

const lines: [title: string, phase: BmcPhase, facts: Partial<BmcFacts>, decided: string][] = [
  ['a BMC that was never seen is looked at', 'Pending', { observation: undefined }, 'act observe'],
  ['a BMC that answered is Enabled', 'Pending', {}, 'go Enabled'],
  ['a BMC without credentials waits for a person', 'Pending', { obstacle }, 'go Error'],
  ['a failure is waited out', 'Pending', { failure: failure(5_000) }, 'wait Unreachable'],
  ['a failure that is over is tried again', 'Pending', { failure: failure(0) }, 'act observe'],
  ['a refusal is not tried again', 'Pending', { failure: failure(0, true) }, 'go Error'],
  ['an enabled BMC that fails is Pending', 'Enabled', { failure: failure(5_000) }, 'go Pending'],
  ['an enabled BMC that refuses us is in Error', 'Enabled', { failure: failure(5_000, true) }, 'go Error'],
  ['an enabled BMC is looked at now and then', 'Enabled', { nextLookInMs: 0 }, 'act observe'],
  ['the manager that was found is recorded', 'Enabled', { managerRecorded: false }, 'act recordManager'],
  [
    'new systems become Servers',
    'Enabled',
    { systems: { create: [system], update: [], refused: [] } },
    'act createServers',
  ],
  ['a calm BMC waits for its next look', 'Enabled', {}, 'wait Connected'],
  ['Error says what a person can do', 'Error', { failure: failure(0, true) }, 'wait Unreachable'],
  ['Error ends when the obstacle does', 'Error', {}, 'go Pending'],
  ['Error stays while the obstacle does', 'Error', { obstacle }, 'wait BMCSecretNotFound'],
];

for (const [title, phase, facts, decided] of lines) {
  test(`${phase}: ${title}`, () => {
    const decision = bmcPhases[phase].judge({ ...connected, ...facts });
    const word = { go: 'phase', act: 'action', wait: 'reason', rest: 'kind' }[decision.kind];
    assert.equal(`${decision.kind} ${String(Reflect.get(decision, word))}`, decided);
  });
}
