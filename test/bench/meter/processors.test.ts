import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorFigures, processorTimes, timesIn } from './processors.ts';

const stat = `cpu  100 1 50 800 20 2 3 24 5 0
cpu0 50 1 25 400 10 1 2 12 5 0
intr 12345 0 0
`;

test('the line of all processors is read, without what is counted twice', () => {
  assert.deepEqual(timesIn(stat), { total: 1_000, idle: 820, stolen: 24 });
});

test('what was stolen is told in per cent of what the processors could have done', () => {
  const before = { total: 1_000, idle: 800, stolen: 10 };
  assert.deepEqual(processorFigures(before, { total: 1_200, idle: 850, stolen: 40 }), {
    idlePercent: 25,
    stolenPercent: 15,
  });
  assert.deepEqual(processorFigures(before, before), { idlePercent: undefined, stolenPercent: undefined });
});

test('this machine tells it', async () => {
  const { total, idle } = await processorTimes();
  assert.ok(total > idle && idle > 0, `${total} ticks, ${idle} of them idle`);
});
