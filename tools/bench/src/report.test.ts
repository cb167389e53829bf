import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateBudgets } from './budgets.ts';
import type { Measurement } from './measurement.ts';
import { jsonOf, tableOf } from './report.ts';

const measurement: Measurement = {
  scenario: 'bring-up',
  servers: 50,
  figures: { wallSeconds: 9, apiWritesPerServer: 15, watchLagP99Ms: undefined },
  seconds: new Map(),
  apiRequests: new Map([['create bmcs', 50]]),
  redfishRequests: new Map(),
};
const report = {
  conditions: { servers: 50 },
  measurements: [measurement],
  budgetResults: evaluateBudgets([measurement]),
};

test('a missed budget is in its row and at the end; one for another fleet size is shown only', () => {
  const table = tableOf(report);
  assert.match(table, /API writes per server +15\.00 +✘ at most 14\n/);
  assert.match(table, /until the last +9\.00 s +– at most 12 with 200, at most 45 with 1000\n/);
  assert.match(table, /1\.00 {2}create bmcs/);
  assert.match(table, /missed {2}bring-up: API writes per server is 15\.00; at most 14 was expected\n$/);
});

test('an unavailable figure is a dash in the table and null in JSON', () => {
  assert.match(tableOf(report), /lag of watches, 99 %, at most +–\n/);
  assert.equal(JSON.parse(jsonOf(report)).scenarios[0].figures.watchLagP99Ms, null);
});
