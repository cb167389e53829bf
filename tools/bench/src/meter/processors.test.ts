import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorFigures, processorTimes, timesIn } from './processors.ts';

const stat = `cpu  100 1 50 800 20 2 3 24 5 0
cpu0 50 1 25 400 10 1 2 12 5 0
intr 12345 0 0
`;

test('the total of all processors is read, without values that are counted twice', () => {
  assert.deepEqual(timesIn(stat), { total: 1_000, idle: 820, stolen: 24 });
});

test('stolen time is a percentage of the total time', () => {
  const before = { total: 1_000, idle: 800, stolen: 10 };
  assert.deepEqual(processorFigures(before, { total: 1_200, idle: 850, stolen: 40 }), {
    idlePercent: 25,
    stolenPercent: 15,
  });
  assert.deepEqual(processorFigures(before, before), { idlePercent: undefined, stolenPercent: undefined });
});

test('the processor times of this machine are read', async () => {
  const { total, idle } = await processorTimes();
  assert.ok(total > idle && idle > 0, `${total} ticks, ${idle} of them idle`);
});
