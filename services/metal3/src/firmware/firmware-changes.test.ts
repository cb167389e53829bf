import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedSettings, changedUpdates, firmwareSteps, isUpdatable } from './firmware-changes.ts';

test('settings that differ keep their types; equal ones and passwords are left out', () => {
  const wanted = { a: 1, b: '2', c: 'x', AdminPassword: 'p', new: 'n' };
  assert.deepEqual(changedSettings(wanted, { a: '1', b: '3', c: 'x' }), { b: '2', new: 'n' });
  assert.deepEqual(changedSettings({ a: 2 }, { a: '1' }), { a: 2 });
});

test('updates with another URL are new, all of them before the first', () => {
  const [bios, bmc] = [
    { component: 'bios', url: 'a' },
    { component: 'bmc', url: 'b' },
  ];
  assert.deepEqual(changedUpdates([bios, bmc], [bios, { ...bmc, url: 'old' }]), [bmc]);
  assert.deepEqual(changedUpdates([bios, bmc], undefined), [bios, bmc]);
  assert.deepEqual(changedUpdates([bios], [bios, bmc]), []);
});

test('bios, bmc and adapters can be updated', () => {
  assert.deepEqual(['bios', 'bmc', 'nic:eno1', 'nic:', 'disk', 'BIOS'].filter(isUpdatable), [
    'bios',
    'bmc',
    'nic:eno1',
  ]);
});

test('steps exist only for changes', () => {
  assert.deepEqual(firmwareSteps({}, []), []);
  assert.deepEqual(firmwareSteps({ a: 1 }, [{ component: 'bios', url: 'u' }]), [
    { interface: 'bios', step: 'apply_configuration', args: { settings: [{ name: 'a', value: 1 }] } },
    { interface: 'firmware', step: 'update', args: { settings: [{ component: 'bios', url: 'u' }] } },
  ]);
});
