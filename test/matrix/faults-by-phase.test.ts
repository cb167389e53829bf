import { test } from 'node:test';
import { cellsAtOnce, faultCells, surviveAll } from '../stories/fault-survival.ts';

test(
  'every fault in every phase is named in time, and what it held up goes on when it is over',
  {
    concurrency: cellsAtOnce,
  },
  (t) => surviveAll(t, faultCells),
);
