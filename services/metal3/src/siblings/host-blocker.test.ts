import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { detachedAnnotation, pausedAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { hostIn } from '../../test/baremetalhost/example-host.ts';
import { hostBlockerOf } from './host-blocker.ts';

const rows: [title: string, host: BareMetalHost | undefined, reason: string | undefined][] = [
  ['an available host', hostIn('available'), undefined],
  ['a host that is being deleted', hostIn('deleting', { isDeleting: true }), undefined],
  ['no host', undefined, 'HostMissing'],
  ['a new host', hostIn(''), 'HostUnmanaged'],
  ['a host without a BMC', hostIn('unmanaged'), 'HostUnmanaged'],
  ['a paused host', hostIn('available', { annotations: { [pausedAnnotation]: '' } }), 'HostPaused'],
  ['a host that shall be detached', hostIn('available', { annotations: { [detachedAnnotation]: '' } }), 'HostDetached'],
  ['a detached host', hostIn('available', { status: { operationalStatus: 'detached' } }), 'HostDetached'],
];

for (const [title, host, reason] of rows)
  test(`blocker of ${title}: ${reason ?? 'none'}`, () => assert.equal(hostBlockerOf('h', host)?.reason, reason));
