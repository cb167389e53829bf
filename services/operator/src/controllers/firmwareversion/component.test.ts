import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchesComponent } from './component.ts';

const adapter = { id: 'NIC.Slot.3', name: 'Intel(R) Ethernet 25G 2P E810-XXV', manufacturer: 'Intel' };
type Selector = Parameters<typeof matchesComponent>[1];

const lines: readonly (readonly [selector: Selector, isMatch: boolean])[] = [
  [{ id: 'NIC.Slot.3' }, true],
  [{ id: 'nic.slot.3' }, false],
  [{ id: 'NIC' }, false],
  [{ name: 'Intel(R) Ethernet 25G 2P E810-XXV' }, true],
  [{ name: 'E810' }, false],
  [{ pattern: '*e810*' }, true],
  [{ pattern: 'NIC.Slot.*' }, true],
  [{ pattern: 'NIC.*.3' }, true],
  [{ pattern: 'NIC.Slot.3*3' }, false],
  [{ pattern: '*Slot*Slot*' }, false],
  [{ pattern: 'NIC?Slot?3' }, false],
  [{ pattern: '*e810*', manufacturer: 'INTEL' }, true],
  [{ pattern: '*e810*', manufacturer: 'Broadcom' }, false],
  [{ id: 'NIC.Slot.3', name: 'another' }, false],
];

for (const [selector, isMatch] of lines)
  test(`${JSON.stringify(selector)} ${isMatch ? 'matches' : 'does not match'} the adapter`, () => {
    assert.equal(matchesComponent(adapter, selector), isMatch);
  });

test('a component without a manufacturer matches none that is wanted', () => {
  assert.equal(
    matchesComponent({ id: 'PSU1', name: undefined, manufacturer: undefined }, { id: 'PSU1', manufacturer: 'Delta' }),
    false,
  );
});

test('a pattern with many stars takes no longer than a short one', () => {
  const started = performance.now();
  matchesComponent(
    { id: 'a'.repeat(256), name: undefined, manufacturer: undefined },
    { pattern: `${'*a'.repeat(128)}*b` },
  );
  // A search that tries every combination would not end.
  assert.ok(performance.now() - started < 5_000);
});
