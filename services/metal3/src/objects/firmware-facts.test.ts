import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import { firmwareFacts } from './firmware-facts.ts';

type Updates = HostFirmwareComponents['spec']['updates'];

const bios = { component: 'bios', url: 'http://files.test/bios.bin' };
const bmc = { component: 'bmc', url: 'http://files.test/bmc.bin' };

/** As its controller has found it for this generation, or for the one before. */
function components(updates: Updates, started: Updates, observedGeneration = 1): HostFirmwareComponents {
  const common = { observedGeneration, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
  return {
    apiVersion: 'metal3.io/v1alpha1',
    kind: 'HostFirmwareComponents',
    metadata: { name: 'h', generation: 1 },
    spec: { updates },
    status: {
      updates: started,
      conditions: [
        { ...common, type: 'ChangeDetected', status: 'True', reason: 'OK' },
        { ...common, type: 'Valid', status: 'True', reason: 'OK' },
      ],
    },
  };
}
const facts = (found: HostFirmwareComponents) =>
  firmwareFacts({ settings: undefined, components: found, policy: undefined }, undefined);

test('updates that are not desired any more are recorded without work', () => {
  for (const [wanted, started] of [
    [[], [bios]],
    [[bios], [bios, bmc]],
  ] satisfies [Updates, Updates][]) {
    const { firmware, withdrawsUpdates } = facts(components(wanted, started));
    assert.deepEqual({ firmware, withdrawsUpdates }, { firmware: 'same', withdrawsUpdates: true });
  }
});

test('while others are desired, or the change was not compared yet, nothing is recorded', () => {
  assert.equal(facts(components([bmc], [bios])).withdrawsUpdates, false);
  assert.equal(facts(components([], [bios], 0)).withdrawsUpdates, false);
});
