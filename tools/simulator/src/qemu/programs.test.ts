import assert from 'node:assert/strict';
import { test } from 'node:test';
import { qemuAvailable } from './programs.ts';

test('the error of a missing QEMU names its package and the command to install it', async () => {
  const available = await qemuAvailable('/nowhere');
  assert.ok(!available.isAvailable);
  assert.match(available.reason, /qemu-system-x86_64 \(Debian package qemu-system-x86\).*make e2e-deps/);
});
