import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formerCleanupAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import type { CleaningMode } from '../provisioner/step-result.ts';
import { policyOf } from './erasure-policy.ts';

interface Row {
  readonly what: string;
  /** spec.cleanup.disks of the Server; empty for none. */
  readonly present: '' | 'None' | 'Purge';
  /** That from before the host. */
  readonly former?: string;
  readonly cleaning: CleaningMode;
  readonly fleetDisks?: string;
  /** spec.cleanup.disks after the patch, and what is kept of before; undefined: no patch. */
  readonly expected: readonly [disks: string | null, former: string] | undefined;
}

const rows: readonly Row[] = [
  { what: 'a host cleans where nobody else does', present: '', cleaning: 'metadata', expected: ['Metadata', ''] },
  { what: 'the fleet cleans more', present: '', cleaning: 'metadata', fleetDisks: 'Purge', expected: undefined },
  { what: 'the Server has a policy', present: 'Purge', cleaning: 'metadata', expected: undefined },
  { what: 'nothing is cleaned', present: 'Purge', cleaning: 'disabled', expected: ['None', 'Purge'] },
  { what: 'that is so already', present: 'None', former: 'Purge', cleaning: 'disabled', expected: undefined },
  {
    what: 'a host that was externally provisioned is cleaned by default',
    present: 'None',
    former: '',
    cleaning: 'metadata',
    expected: ['Metadata', ''],
  },
  {
    what: 'it is cleaned by the policy of the fleet',
    present: 'None',
    former: '',
    cleaning: 'metadata',
    fleetDisks: 'Purge',
    expected: [null, ''],
  },
  {
    what: 'it is cleaned by the policy of its Server',
    present: 'None',
    former: 'Purge',
    cleaning: 'metadata',
    expected: ['Purge', 'Purge'],
  },
];

for (const { what, present, former, cleaning, fleetDisks = 'None', expected } of rows)
  test(`the erasure that a host asks for: ${what}`, () => {
    const server = {
      apiVersion: 'metal.ironcore.dev/v1alpha1',
      kind: 'Server',
      metadata: { name: 's', annotations: former === undefined ? {} : { [formerCleanupAnnotation]: former } },
      spec: { systemUUID: 'u', cleanup: present === '' ? {} : { disks: present } },
    } as const;
    assert.deepEqual(
      policyOf(server, { cleaning, fleetDisks }),
      expected && {
        metadata: { annotations: { [formerCleanupAnnotation]: expected[1] } },
        spec: { cleanup: { disks: expected[0] } },
      },
    );
  });
