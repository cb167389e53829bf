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

test('only managedFields are removed', () => {
  const { metadata, ...rest } = fromServer();
  const { managedFields: _, ...kept } = metadata;
  assert.deepEqual(transformForCache(fromServer(), new InternedStrings()), { ...rest, metadata: kept });
});

test('the object is deeply frozen', () => {
  const object = transformForCache(fromServer(), new InternedStrings());
  for (const part of [object, object.metadata, object.metadata.labels, object.spec.disks, object.spec.disks[1]])
    assert.ok(Object.isFrozen(part));
});

test('a transformed object is returned as it is', () => {
  const strings = new InternedStrings();
  const object = transformForCache(fromServer(), strings);
  assert.equal(transformForCache(object, strings), object);
});
