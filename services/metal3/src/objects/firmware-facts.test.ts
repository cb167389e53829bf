import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import { firmwareFacts } from './firmware-facts.ts';

type Updates = HostFirmwareComponents['spec']['updates'];

const typed = { apiVersion: 'metal3.io/v1alpha1', metadata: { name: 'h', generation: 1 } };
const bios = { component: 'bios', url: 'http://files.test/bios.bin' };
const bmc = { component: 'bmc', url: 'http://files.test/bmc.bin' };

/** As its controller has found it for this generation, or for the one before. */
function components(updates: Updates, started: Updates, observedGeneration = 1): HostFirmwareComponents {
  const common = { observedGeneration, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
  return {
    ...typed,
    kind: 'HostFirmwareComponents',
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

test('updates that were started stay desired until they are withdrawn, where the policy allows them', () => {
  const isDesired = (wanted: Updates, firmwareUpdates: 'onReboot' | 'onPreparing') => {
    const policy = { ...typed, kind: 'HostUpdatePolicy', spec: { firmwareUpdates } };
    const found = components(wanted, [bios]);
    return firmwareFacts({ settings: undefined, components: found, policy }, undefined).hasServicingSpec;
  };
  assert.equal(isDesired([bios], 'onReboot'), true);
  assert.equal(isDesired([], 'onReboot'), false);
  assert.equal(isDesired([bios], 'onPreparing'), false);
});
