import assert from 'node:assert/strict';
import { test } from 'node:test';
import { percentile, printFigures } from './figures.ts';

const rows: [readonly number[], number, number][] = [
  [[3, 1, 2], 50, 2],
  [[3, 1, 2], 99, 3],
  [[7], 1, 7],
  [Array.from({ length: 200 }, (_, index) => index + 1), 99, 198],
];
for (const [values, percent, expected] of rows) {
  test(`${percent} per cent of ${values.length} values do not exceed ${expected}`, () =>
    assert.equal(percentile(values, percent), expected));
}

test('figures are printed as a table or as JSON', () => {
  const figures = [
    { name: 'wall clock', value: 12.345, unit: 's' },
    { name: 'memory', value: 200, unit: 'MiB' },
  ] as const;
  assert.equal(printFigures(figures, 'table'), 'wall clock       12.35 s\nmemory          200.00 MiB\n');
  assert.deepEqual(JSON.parse(printFigures(figures, 'json')), figures);
});
