import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { diskErasure, type ErasureReportBody } from '@metal/api/wire/erasure.ts';
import { rejectionOf } from './erasure-orders.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const boot: ServerBootConfiguration = {
  apiVersion,
  kind: 'ServerBootConfiguration',
  metadata: { name: 'one', annotations: { 'metal.ironcore.dev/cleanup-attempt': '1' } },
  spec: { serverRef: { name: 'one' } },
};

interface ServerSituation {
  readonly state?: string;
  readonly isClaimed?: boolean;
  readonly operation?: string;
  readonly isDeleting?: boolean;
}

const serverIn = ({
  state = 'Cleanup',
  isClaimed = false,
  operation,
  isDeleting = false,
}: ServerSituation): Server => ({
  apiVersion,
  kind: 'Server',
  metadata: {
    name: 'one',
    ...(operation === undefined ? {} : { annotations: { 'metal.ironcore.dev/operation': operation } }),
    ...(isDeleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
  spec: { systemUUID: 'u', ...(isClaimed ? { serverClaimRef: { namespace: 'team', name: 'c', uid: 'claim-1' } } : {}) },
  status: { state },
});

const states = ['Running', 'Succeeded', 'Failed'] as const;
const none = [undefined, undefined, undefined];
const all = ['ErasureNotOrdered', 'ErasureNotOrdered', 'ErasureNotOrdered'];
const allButTheFinalReport = ['ErasureNotOrdered', 'ErasureNotOrdered', undefined];

const rows: [string, ServerSituation, readonly (string | undefined)[]][] = [
  ['in Cleanup', {}, none],
  ['in Cleanup that is to be parked', { operation: 'park' }, none],
  ['in Cleanup that is claimed again', { isClaimed: true }, allButTheFinalReport],
  ['in Cleanup that is paused', { operation: 'ignore' }, allButTheFinalReport],
  ['in Cleanup that is paused with its children', { operation: 'ignore-child-and-self' }, allButTheFinalReport],
  ['in Maintenance', { state: 'Maintenance' }, all],
  ['that is Reserved', { state: 'Reserved', isClaimed: true }, all],
  ['that is being deleted', { isDeleting: true }, all],
];

for (const [title, situation, expected] of rows)
  test(`erasure reports ${states.join(', ')} of a server ${title}: ${expected.map((code) => code ?? 'accepted').join(', ')}`, () => {
    const found = states.map((state) => {
      const disks = [diskErasure.parse({ sizeBytes: 1, result: state === 'Succeeded' ? 'Erased' : 'Pending' })];
      const report: ErasureReportBody = { systemUUID: 'u', attempt: 1, state, message: '', disks };
      return rejectionOf({ server: serverIn(situation), boot, report })?.code;
    });
    assert.deepEqual(found, expected);
  });
