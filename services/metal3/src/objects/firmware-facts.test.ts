import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import type { HostFirmwareSettings } from '@metal/api/metal3/host-firmware-settings.ts';
import type { HostUpdatePolicy } from '@metal/api/metal3/host-update-policy.ts';
import { firmwareFacts, type FirmwareObjects } from './firmware-facts.ts';

const at = '2026-01-01T00:00:00Z';
const metadata = { name: 'h', namespace: 'n', generation: 2 };
const update = { component: 'bios', url: 'http://files.test/bios.bin' };
const other = { component: 'bmc', url: 'http://files.test/bmc' };
type Updates = HostFirmwareComponents['spec']['updates'];
const apiVersion = 'metal3.io/v1alpha1';
const isChanged = (observedGeneration: number) =>
  (['ChangeDetected', 'Valid'] as const).map((type) => {
    return {
      type,
      status: 'True',
      reason: 'Success',
      message: '',
      lastTransitionTime: at,
      observedGeneration,
    } as const;
  });

function policy(firmwareSettings: 'onReboot' | 'onPreparing', firmwareUpdates = firmwareSettings): HostUpdatePolicy {
  return { apiVersion, kind: 'HostUpdatePolicy', metadata, spec: { firmwareSettings, firmwareUpdates } };
}

function components(updates: Updates, started?: Updates, observedGeneration = 2): HostFirmwareComponents {
  const status = { conditions: isChanged(observedGeneration), ...(started === undefined ? {} : { updates: started }) };
  return { apiVersion, kind: 'HostFirmwareComponents', metadata, spec: { updates }, status };
}

function settings(wanted: Record<string, string>, generation = 2): HostFirmwareSettings {
  const status = { conditions: isChanged(generation), settings: { Turbo: 'Enabled' }, lastUpdated: at };
  return { apiVersion, kind: 'HostFirmwareSettings', metadata, spec: { settings: wanted }, status };
}

const none = { settings: undefined, components: undefined, policy: undefined };

const rows: [string, Partial<FirmwareObjects>, firmware: string, servicing: string, hasServicingSpec: boolean][] = [
  ['an update', { components: components([update]), policy: policy('onReboot') }, 'changed', 'bios', true],
  ['an update without a policy', { components: components([update]) }, 'changed', '', false],
  ['an update that waits', { components: components([update]), policy: policy('onPreparing') }, 'changed', '', false],
  [
    'an update that was started, which is no change any more, but goes on',
    { components: components([update], [update]), policy: policy('onReboot') },
    'same',
    '',
    true,
  ],
  [
    'an update that was removed',
    { components: components([], [update]), policy: policy('onReboot') },
    'same',
    '',
    false,
  ],
  ['a setting', { settings: settings({ Turbo: 'Disabled' }), policy: policy('onReboot') }, 'changed', 'Turbo', true],
  [
    'a setting that was edited since, so that its value is not known, but a servicing goes on',
    { settings: settings({ Turbo: 'Disabled' }, 1), policy: policy('onReboot') },
    'unread',
    '',
    true,
  ],
  [
    'a setting where only updates may be applied',
    { settings: settings({ Turbo: 'Disabled' }), policy: policy('onPreparing', 'onReboot') },
    'changed',
    '',
    false,
  ],
];
for (const [title, objects, firmware, servicing, hasServicingSpec] of rows)
  test(`firmware of a host with ${title}`, () => {
    const found = firmwareFacts({ ...none, ...objects }, undefined);
    const changed = [
      ...Object.keys(found.servicing.settings),
      ...found.servicing.updates.map(({ component }) => component),
    ];
    assert.deepEqual(
      [found.firmware, changed.join(' '), found.hasServicingSpec],
      [firmware, servicing, hasServicingSpec],
    );
  });

test('updates that are not desired any more are recorded without work', () => {
  for (const [wanted, started] of [
    [[], [update]],
    [[update], [update, other]],
  ] satisfies [Updates, Updates][]) {
    const { firmware, withdrawsUpdates } = firmwareFacts(
      { ...none, components: components(wanted, started) },
      undefined,
    );
    assert.deepEqual({ firmware, withdrawsUpdates }, { firmware: 'same', withdrawsUpdates: true });
  }
});

test('while others are desired, or the change was not compared yet, nothing is recorded', () => {
  for (const found of [components([other], [update]), components([], [update], 1)])
    assert.equal(firmwareFacts({ ...none, components: found }, undefined).withdrawsUpdates, false);
});
