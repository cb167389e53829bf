import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formerCleanupAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { CleaningMode } from '../provisioner/step-result.ts';
import { policyOf } from './erasure-policy.ts';

type Disks = NonNullable<NonNullable<Server['spec']['cleanup']>['disks']>;

const serverWith = (disks: Disks | '', former: string | undefined): Server => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name: 's', annotations: former === undefined ? {} : { [formerCleanupAnnotation]: former } },
  spec: {
    systemUUID: 'u',
    reclaimPolicy: 'Recycle',
    unclaimable: false,
    ...(disks === '' ? {} : { cleanup: { disks } }),
  },
});

/** written: what the Server gets, with what it gets back afterwards; undefined: it stays as it is. */
const rows: [
  title: string,
  present: Disks | '',
  former: string | undefined,
  cleaning: CleaningMode,
  fleet: 'None' | 'Purge',
  written: [disks: Disks | null, former: string] | undefined,
][] = [
  ['the default of hosts', '', undefined, 'metadata', 'None', ['Metadata', '']],
  ['again', 'Metadata', '', 'metadata', 'None', undefined],
  ['a fleet with a policy', '', undefined, 'metadata', 'Purge', undefined],
  ['a Server with a policy', 'Purge', undefined, 'metadata', 'None', undefined],
  ['a Server that nobody shall erase', 'None', undefined, 'metadata', 'None', undefined],
  ['no cleaning', 'Purge', undefined, 'disabled', 'Purge', ['None', 'Purge']],
  ['no cleaning, again', 'None', 'Purge', 'disabled', 'Purge', undefined],
  ['no cleaning any more', 'Metadata', '', 'disabled', 'None', ['None', '']],
  ['a cleaning after all', 'None', '', 'metadata', 'None', ['Metadata', '']],
  ['a cleaning after all, as the Server asks', 'None', 'Purge', 'metadata', 'None', ['Purge', 'Purge']],
  ['a cleaning after all, as the fleet asks', 'None', '', 'metadata', 'Purge', [null, '']],
  ['a policy that somebody set since', 'Purge', '', 'metadata', 'None', ['Purge', 'Purge']],
];
for (const [title, present, former, cleaning, fleetDisks, written] of rows)
  test(`the erasure for a deployment: ${title}`, () => {
    const patch = policyOf(serverWith(present, former), { cleaning, fleetDisks });
    const found = patch && [patch.spec.cleanup.disks, patch.metadata.annotations[formerCleanupAnnotation]];
    assert.deepEqual(found, written);
  });
