import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rest } from '@metal/kube/controller/decide.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import type { RuleFacts } from './facts.ts';
import { decideDeletion, ruleTable } from './table.ts';
import { reportRule } from './report.ts';

const calm: RuleFacts = { selectorFault: undefined, selected: 3, heldBack: 0, firstHeldBack: [], uncleaned: [] };
const rule: ServerReadinessRule = {
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'ServerReadinessRule',
  metadata: { name: 'r' },
  spec: {
    conditions: [{ type: 'BurnIn', requiredStatus: 'True' }],
    enforcementMode: 'Continuous',
    taint: { key: 'k', effect: 'NoBind' },
    serverSelector: {},
  },
};
const firstHeldBack = Array.from({ length: 5 }, (_, index) => ({
  server: `s-${index}`,
  unmet: 'BurnIn=True (is False)',
}));

const rows: [what: string, facts: Partial<RuleFacts>, expected: [status: string, reason: string, message: RegExp]][] = [
  ['a rule whose servers are ready', {}, ['True', 'AllServersReady', /^3 servers selected, all of them ready$/]],
  ['a rule that selects no server', { selected: 0 }, ['True', 'NoServerSelected', /no server matches/]],
  [
    'a rule that holds servers back',
    { selected: 9, heldBack: 7, firstHeldBack },
    [
      'True',
      'ServersNotReady',
      /^9 servers selected, 7 not ready: s-0 wants BurnIn=True \(is False\), s-1 wants [^,]*, …$/,
    ],
  ],
  [
    'a rule with a faulty selector',
    { selectorFault: '"Like" is no operator' },
    ['False', 'InvalidSelector', /^spec\.serverSelector: "Like" is no operator; create the rule anew/],
  ],
];
for (const [what, facts, [status, reason, message]] of rows) {
  test(`${what} reports ${reason}`, () => {
    const all = { ...calm, ...facts };
    const decision = ruleTable.InForce.decide(all);
    assert.ok(decision.kind === 'rest' || decision.kind === 'wait');
    const outcome = { phase: 'InForce', phaseSince: '2026-01-01T00:00:00Z', decision } as const;
    const [ready] = reportRule(rule, all, outcome).conditions;
    assert.deepEqual([ready?.type, ready?.status, ready?.reason], ['Ready', status, reason]);
    assert.match(ready?.message ?? '', message);
  });
}

test('a deleted rule waits for the servers that still have its taint, and names them', () => {
  const waiting = decideDeletion({ ...calm, uncleaned: ['s-1', 's-2'] });
  assert.deepEqual(waiting, {
    kind: 'wait',
    delayMs: 30_000,
    reason: 'RemovingTaints',
    message: 'from 2 servers: s-1, s-2',
  });
  assert.deepEqual(decideDeletion(calm), rest);
});
