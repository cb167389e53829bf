import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeCapabilities } from './node-capabilities.ts';

test('the capabilities of others stay, those of the boot mode are replaced', () => {
  assert.equal(nodeCapabilities('', 'UEFI'), 'boot_mode:uefi');
  assert.equal(nodeCapabilities('a:b,boot_mode:bios,c:d', 'UEFISecureBoot'), 'a:b,c:d,boot_mode:uefi,secure_boot:true');
  assert.equal(nodeCapabilities('boot_mode:uefi,secure_boot:true', 'legacy'), 'boot_mode:bios');
});
