import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeTimes, timesByPath } from './test-times.ts';

test('a run prints its times and its dearest files first', () => {
  const files = [
    { file: 'a.test.ts', processorMs: 1_000 },
    { file: 'b.test.ts', processorMs: 12_340 },
    { file: 'c.test.ts', processorMs: 40 },
  ];
  assert.equal(
    describeTimes({ wallMs: 301_000, processorMs: 600_000, controlPlanesMs: 59_400, files }),
    [
      'took 5 min 1 s, 10 min 0 s of processor time, 59 s of it in shared control planes',
      'most processor time:',
      '    12.3 s  b.test.ts',
      '     1.0 s  a.test.ts',
      '     0.0 s  c.test.ts',
    ].join('\n'),
  );
});

test('at most ten files are printed, and none without any', () => {
  const times = { wallMs: 0, processorMs: 0, controlPlanesMs: 0 };
  const files = Array.from({ length: 30 }, (_, index) => ({ file: `${index}.test.ts`, processorMs: index }));
  assert.equal(describeTimes({ ...times, files }).split('\n').length, 12);
  assert.equal(describeTimes({ ...times, files: [] }).split('\n').length, 1);
});

test('files that run as suites count on their own, table tests together', () => {
  const arranged = [
    { file: '/cache/000-a.test.mjs', paths: ['a.test.ts', 'b.test.ts'] },
    { file: '/cache/001-s.test.mjs', paths: ['s.test.ts'] },
    { file: '/root/c.test.ts', paths: ['c.test.ts'] },
  ];
  const times = ['/cache/000-a.test.mjs', 's.test.ts', '/cache/001-s.test.mjs', '/root/c.test.ts'];
  assert.deepEqual(
    timesByPath(
      times.map((file, processorMs) => ({ file, processorMs })),
      arranged,
    ),
    [
      { file: '2 table tests', processorMs: 0 },
      { file: 's.test.ts', processorMs: 1 },
      { file: 'c.test.ts', processorMs: 3 },
    ],
  );
});
