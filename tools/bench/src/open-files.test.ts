import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitIn, openFilesFor } from './open-files.ts';

const limits = (most: string) => `Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max open files            1024                 ${most.padEnd(20)} files
Max locked memory         8388608              8388608              bytes`;

test('the limit is the hard limit of the process', () => {
  assert.equal(limitIn(limits('20000')), 20_000);
  assert.equal(limitIn(limits('unlimited')), Infinity);
});

test('a fleet needs a socket for each BMC and connections to active ones', () => {
  assert.equal(openFilesFor(100), 1_000);
  assert.equal(openFilesFor(10_000), 18_500);
});
