import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InternedStrings } from './interned-strings.ts';
import { transformForCache } from './transform-for-cache.ts';

const fromServer = () => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a', labels: { rack: '7' }, managedFields: [{ manager: 'kubectl' }] },
  spec: { disks: [{ model: 'NVMe 1.92TB' }, { model: 'NVMe 1.92TB' }], sizes: [1, null, true] },
});

test('nothing is lost but managedFields', () => {
  const { metadata, ...rest } = fromServer();
  const { managedFields: _, ...kept } = metadata;
  assert.deepEqual(transformForCache(fromServer(), new InternedStrings()), { ...rest, metadata: kept });
});

test('it is frozen to the bottom', () => {
  const object = transformForCache(fromServer(), new InternedStrings());
  for (const part of [object, object.metadata, object.metadata.labels, object.spec.disks, object.spec.disks[1]])
    assert.ok(Object.isFrozen(part));
});

test('what is settled stays the same object', () => {
  const strings = new InternedStrings();
  const object = transformForCache(fromServer(), strings);
  assert.equal(transformForCache(object, strings), object);
});
