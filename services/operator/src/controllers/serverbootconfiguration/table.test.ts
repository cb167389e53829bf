import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BootConfigurationFacts, BootPhase } from './facts.ts';
import { bootTable } from './table.ts';

const fresh: BootConfigurationFacts = {
  state: '',
  failure: undefined,
  preparation: undefined,
  serverExists: true,
  serverName: 's',
  ageMs: 0,
};
const old = { ...fresh, ageMs: 60_000 };
const pulling = { ...old, state: 'Pending', preparation: 'the files of "x" are being pulled' };

const rows: [about: string, phase: BootPhase, facts: BootConfigurationFacts, reason: string, message: RegExp][] = [
  ['that is new', 'Unanswered', fresh, 'WaitingForBootService', /^$/],
  ['without an answer', 'Unanswered', old, 'WaitingForBootService', /is one running \(--components=boot\)/],
  ['that is being prepared', 'Unanswered', pulling, 'Preparing', /^the files of "x" are being pulled$/],
  [
    'without its server',
    'Unanswered',
    { ...old, serverExists: false },
    'ServerNotFound',
    /^Server "s" .* does not exist/,
  ],
];
for (const [about, phase, facts, reason, message] of rows) {
  test(`a boot configuration ${about}: ${reason}`, () => {
    const decision = bootTable[phase].decide(facts);
    assert.ok(decision.kind === 'wait');
    assert.equal(decision.reason, reason);
    assert.match(decision.message ?? '', message);
  });
}
