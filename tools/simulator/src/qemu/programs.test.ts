import assert from 'node:assert/strict';
import { test } from 'node:test';
import { qemuAvailable } from './programs.ts';

test('where QEMU is missing it is said in which package it is, and what to run', async () => {
  const available = await qemuAvailable('/nowhere');
  assert.ok(!available.isAvailable);
  assert.match(available.reason, /qemu-system-x86_64 \(Debian package qemu-system-x86\).*make e2e-deps/);
});
