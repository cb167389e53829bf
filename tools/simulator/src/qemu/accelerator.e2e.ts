import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boots } from './accelerator.ts';

test('a trial boot succeeds with a working accelerator and fails with one that does not start', {
  timeout: 60_000,
}, async () => {
  assert.equal(await boots({ qemu: 'qemu-system-x86_64' }, 'tcg'), true);
  assert.equal(await boots({ qemu: 'false' }, 'tcg'), false);
  assert.equal(await boots({ qemu: 'sleep' }, 'tcg'), false);
});
