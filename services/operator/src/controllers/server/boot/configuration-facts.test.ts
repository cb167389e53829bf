import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { bootTokenExpiresAnnotation } from '@metal/api/wire/contract.ts';
import { bootFactsOf } from './configuration-facts.ts';

type Status = NonNullable<ServerBootConfiguration['status']>;
const apiVersion = 'metal.ironcore.dev/v1alpha1';
const server: Server = { apiVersion, kind: 'Server', metadata: { name: 's' }, spec: { systemUUID: 'u' } };
const conditionWith = (
  type: string,
  status: 'True' | 'False' | 'Unknown',
  message: string,
): NonNullable<Status['conditions']>[number] => ({
  type,
  status,
  reason: 'Any',
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const delivered = conditionWith('IPXEScriptFetched', 'True', 'fetched');

const rows: [about: string, status: Status, explanation: RegExp][] = [
  ['without a status', {}, /^the boot service has not prepared it yet$/],
  [
    'whose image is being pulled',
    {
      state: 'Pending',
      conditions: [conditionWith('ImageValidation', 'Unknown', 'the files of "x" are being pulled')],
    },
    /^the files of "x" are being pulled$/,
  ],
  [
    'that cannot be booted',
    { state: 'Error', conditions: [conditionWith('ImageValidation', 'False', 'LayerMissing: it lacks a kernel')] },
    /^ServerBootConfiguration \S+ cannot be booted \(LayerMissing\); its condition Ready has the cause$/,
  ],
  ['that is prepared', { state: 'Ready' }, /^nothing was fetched/],
  [
    'whose image was corrected after it was prepared',
    { state: 'Ready', boot: { image: 'before' } },
    /^the boot service has not prepared it yet$/,
  ],
  ['whose boot has begun', { state: 'Ready', conditions: [delivered] }, /^last evidence: IPXEScriptFetched$/],
  [
    'whose boot is overdue',
    { state: 'Ready', conditions: [delivered, conditionWith('BootOverdue', 'True', 'kernel did not come')] },
    /^kernel did not come$/,
  ],
];
for (const [about, status, explanation] of rows) {
  test(`the explanation covers a boot configuration ${about}`, () => {
    const boot: ServerBootConfiguration = {
      apiVersion,
      kind: 'ServerBootConfiguration',
      metadata: { name: 'b' },
      spec: { serverRef: { name: 's' } },
      status,
    };
    assert.match(bootFactsOf(boot, server, 0).explanation, explanation);
  });
}

for (const [expires, isExpired] of [
  [undefined, false],
  ['2026-01-01T00:00:01Z', false],
  ['2026-01-01T00:00:00Z', true],
  ['soon', true],
] as const)
  test(`a boot configuration with the expiration date ${expires} is ${isExpired ? 'expired' : 'valid'}`, () => {
    const annotations = expires === undefined ? {} : { [bootTokenExpiresAnnotation]: expires };
    const boot: ServerBootConfiguration = {
      apiVersion,
      kind: 'ServerBootConfiguration',
      metadata: { name: 'b', annotations },
      spec: { serverRef: { name: 's' } },
    };
    assert.equal(bootFactsOf(boot, server, Date.parse('2026-01-01T00:00:00Z')).isExpired, isExpired);
  });
