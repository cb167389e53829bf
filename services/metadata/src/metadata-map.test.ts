import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectMeta } from '@metal/kube/kinds/kind.ts';
import { metadataOf } from './metadata-map.ts';

const of = (metadata: Partial<ObjectMeta>, given: Record<string, string> = {}) =>
  Object.fromEntries(
    metadataOf(
      {
        apiVersion: 'metal.ironcore.dev/v1alpha1',
        kind: 'Server',
        metadata: { name: 'srv', ...metadata },
        spec: { systemUUID: 'x' },
      },
      given,
    ),
  );
const prefixed = (key: string, value: string) => ({ [`metadata.metal.ironcore.dev/${key}`]: value });

test('labels win over annotations, annotations over the name, the name over static pairs', () => {
  assert.deepEqual(of({}, { zone: 'static', 'server-name': 'static' }), { zone: 'static', 'server-name': 'srv' });
  assert.deepEqual(
    of(
      { annotations: { ...prefixed('zone', 'annotation'), ...prefixed('server-name', 'annotation') } },
      { zone: 'static' },
    ),
    { zone: 'annotation', 'server-name': 'annotation' },
  );
  assert.deepEqual(of({ annotations: prefixed('zone', 'annotation'), labels: prefixed('zone', 'label') }), {
    zone: 'label',
    'server-name': 'srv',
  });
});

test('labels and annotations with other prefixes are not served', () => {
  assert.deepEqual(of({ labels: { secret: '1' }, annotations: { 'metal.ironcore.dev/metadata-addresses': '::1' } }), {
    'server-name': 'srv',
  });
});
