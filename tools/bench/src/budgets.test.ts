import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Budget, budgets, evaluateBudgets, missed, formatResult } from './budgets.ts';
import type { Figures, Measurement } from './measurement.ts';

const bringUp = (servers: number, figures: Figures): Measurement => ({
  scenario: 'bring-up',
  servers,
  figures,
  seconds: new Map(),
  apiRequests: new Map(),
  redfishRequests: new Map(),
});

const writes: Budget = { scenario: 'bring-up', figure: 'apiWritesPerServer', atMost: 14 };

test('a figure equal to its budget meets it, with a tolerance for costs per fleet', () => {
  assert.deepEqual(missed(evaluateBudgets([bringUp(200, { apiWritesPerServer: 14 })], [writes])), []);
  assert.deepEqual(missed(evaluateBudgets([bringUp(200, { apiWritesPerServer: 14.04 })], [writes])), []);
  assert.equal(missed(evaluateBudgets([bringUp(200, { apiWritesPerServer: 14.06 })], [writes])).length, 1);
});

test('a missed budget is reported with scenario, figure and both numbers', () => {
  const [result] = evaluateBudgets([bringUp(200, { apiWritesPerServer: 15.5 })], [writes]);
  assert.ok(result !== undefined);
  assert.equal(formatResult(result), 'bring-up: API writes per server is 15.50; at most 14 was expected');
});

test('budgets apply to their fleet sizes and to measured figures', () => {
  const cpu: Budget = { scenario: 'bring-up', figure: 'cpuMsPerServer', atMost: 70, servers: { from: 50, to: 200 } };
  const slow = { cpuMsPerServer: 900 };
  for (const servers of [3, 49, 201]) assert.deepEqual(evaluateBudgets([bringUp(servers, slow)], [cpu]), []);
  for (const servers of [50, 200]) assert.equal(evaluateBudgets([bringUp(servers, slow)], [cpu]).length, 1);
  assert.deepEqual(evaluateBudgets([bringUp(200, { cpuMsPerServer: undefined })], [cpu]), []);
});

test('budgets for seconds are shown only and never fail', () => {
  const results = evaluateBudgets([bringUp(200, { wallSeconds: 100 })]);
  assert.deepEqual(
    results.map(({ isMet }) => isMet),
    [false],
  );
  assert.deepEqual(missed(results), []);
});

test('no two budgets apply to the same figure and fleet', () => {
  for (const servers of [1, 50, 150, 200, 201, 1_000]) {
    const applying = evaluateBudgets(
      [...new Set(budgets.map(({ scenario }) => scenario))].map((scenario) => ({
        ...bringUp(servers, Object.fromEntries(budgets.map(({ figure }) => [figure, 0]))),
        scenario,
      })),
    ).map(({ budget: { scenario, figure } }) => `${scenario} ${figure}`);
    assert.equal(new Set(applying).size, applying.length);
  }
});
