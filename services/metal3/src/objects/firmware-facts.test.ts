import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostFirmwareSettings } from '@metal/api/metal3/host-firmware-settings.ts';
import type { HostUpdatePolicy } from '@metal/api/metal3/host-update-policy.ts';
import { firmwareFacts } from './firmware-facts.ts';

const metadata = { name: 'a', namespace: 'metal3', generation: 1 };

const settingsOf = (wanted: Record<string, string>, observedGeneration = 1): HostFirmwareSettings => ({
  apiVersion: 'metal3.io/v1alpha1',
  kind: 'HostFirmwareSettings',
  metadata,
  spec: { settings: wanted },
  status: {
    settings: { Turbo: 'On' },
    conditions: ['ChangeDetected', 'Valid'].map((type) => ({
      type,
      status: type === 'Valid' || (wanted.Turbo ?? 'On') !== 'On' ? 'True' : 'False',
      reason: 'Success',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      observedGeneration,
    })),
  },
});

const policyOf = (firmwareSettings: 'onReboot' | 'onPreparing'): HostUpdatePolicy => ({
  apiVersion: 'metal3.io/v1alpha1',
  kind: 'HostUpdatePolicy',
  metadata,
  spec: { firmwareSettings },
});

const rows: [
  title: string,
  settings: HostFirmwareSettings,
  policy: HostUpdatePolicy | undefined,
  servicing: object,
  hasServicingSpec: boolean,
][] = [
  ['a setting that differs', settingsOf({ Turbo: 'Off' }), policyOf('onReboot'), { Turbo: 'Off' }, true],
  ['a setting that is applied', settingsOf({ Turbo: 'On' }), policyOf('onReboot'), {}, true],
  ['a setting that nobody has compared', settingsOf({ Turbo: 'Off' }, 0), policyOf('onReboot'), {}, true],
  ['no setting', settingsOf({}), policyOf('onReboot'), {}, false],
  ['a setting for a preparation', settingsOf({ Turbo: 'Off' }), policyOf('onPreparing'), {}, false],
  ['a setting without a policy', settingsOf({ Turbo: 'Off' }), undefined, {}, false],
];
for (const [title, settings, policy, expected, hasServicingSpec] of rows)
  test(`servicing for ${title}`, () => {
    const facts = firmwareFacts({ settings, components: undefined, policy }, undefined);
    assert.deepEqual([facts.servicing.settings, facts.hasServicingSpec], [expected, hasServicingSpec]);
  });
