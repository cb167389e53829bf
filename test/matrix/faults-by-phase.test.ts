import { test } from 'node:test';
import { maxConcurrentCells, faultCells, surviveAll } from '../fixtures/fault-survival.ts';

test(
  'every fault in every phase is reported in time, and its machine continues after it',
  {
    concurrency: maxConcurrentCells,
  },
  (t) => surviveAll(t, faultCells),
);
