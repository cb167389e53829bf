import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../kinds/kind.ts';
import { Store } from './store.ts';

interface Thing extends KubeObject {
  color?: string;
}

const thing = (name: string, resourceVersion: string, color = 'red', uid = `uid-${name}`): Thing => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name, uid, resourceVersion },
  color,
});

function openStore() {
  const store = new Store<Thing>();
  store.addIndexes({ color: ({ color }) => (color === undefined ? [] : [color]) });
  const changes: string[] = [];
  store.onChange(({ key, before, after }) => changes.push(`${key} ${before?.color ?? '-'}→${after?.color ?? '-'}`));
  return { store, changes };
}

test('an older version never replaces a newer one', () => {
  const { store, changes } = openStore();
  store.upsertIfNewer(thing('a', '10', 'blue'));
  store.upsertIfNewer(thing('a', '9', 'red'));
  store.upsertIfNewer(thing('a', '10', 'red'));
  assert.equal(store.get('a')?.color, 'blue');
  assert.deepEqual(changes, ['a -→blue']);
});

test('listeners and indexes get the transformed object', () => {
  const store = new Store<Thing>(undefined, ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }));
  store.addIndexes({ color: ({ color }) => (color === undefined ? [] : [color]) });
  const received: (Thing | undefined)[] = [];
  store.onChange(({ after }) => received.push(after));
  const object = thing('a', '1', 'red');
  assert.deepEqual([store.upsertIfNewer(object), store.upsertIfNewer(thing('a', '1'))], [true, false]);
  const { apiVersion, kind, metadata } = object;
  const left = { apiVersion, kind, metadata };
  assert.deepEqual([store.get('a'), received, store.by('color', 'red')], [left, [left], []]);
  assert.equal(object.color, 'red', 'the original object is unchanged');
});

test('versions compare as numbers of any length', () => {
  const { store } = openStore();
  store.upsertIfNewer(thing('a', '9', 'old'));
  store.upsertIfNewer(thing('a', '10000000000000000001', 'new'));
  assert.equal(store.get('a')?.color, 'new');
});

test('indexes follow every change', () => {
  const { store } = openStore();
  store.upsertIfNewer(thing('a', '1', 'red'));
  store.upsertIfNewer(thing('b', '2', 'red'));
  assert.deepEqual(
    store.by('color', 'red').map(({ metadata }) => metadata.name),
    ['a', 'b'],
  );
  store.upsertIfNewer(thing('a', '3', 'blue'));
  store.remove(thing('b', '4'));
  assert.deepEqual([store.by('color', 'red').length, store.by('color', 'blue').length], [0, 1]);
  assert.throws(() => store.by('size', '1'), /no index "size"; declared are color/);
});

test('a late response does not restore a deleted object', () => {
  const { store } = openStore();
  store.upsertIfNewer(thing('a', '1'));
  store.remove(thing('a', '5'));
  store.upsertIfNewer(thing('a', '9'));
  assert.equal(store.size, 0);
  store.upsertIfNewer(thing('a', '10', 'red', 'another'));
  assert.equal(store.size, 1, 'an object with another UID is another object');
});

test('removing an object does not remove a newer one with its name', () => {
  const { store } = openStore();
  store.upsertIfNewer(thing('a', '10', 'blue', 'new'));
  store.remove(thing('a', '9', 'red', 'old'));
  assert.equal(store.get('a')?.color, 'blue');
});

test('a complete list removes unlisted objects, but not those written after it', () => {
  const { store, changes } = openStore();
  store.upsertIfNewer(thing('gone', '1'));
  store.upsertIfNewer(thing('fresh', '20'));
  const replacement = store.listReplacement();
  replacement.upsert(thing('listed', '5'));
  assert.deepEqual(
    [...store.all()].map(({ metadata }) => metadata.name),
    ['gone', 'fresh', 'listed'],
    'before the commit',
  );
  replacement.commit('10');
  assert.deepEqual([...store.all()].map(({ metadata }) => metadata.name).toSorted(), ['fresh', 'listed']);
  assert.ok(changes.includes('gone red→-'));
});

test('objects are deeply frozen', () => {
  const { store } = openStore();
  store.upsertIfNewer({
    ...thing('a', '1'),
    metadata: { name: 'a', uid: 'u', resourceVersion: '1', labels: { x: 'y' } },
  });
  assert.throws(() => Object.assign(store.get('a')?.metadata.labels ?? {}, { x: 'z' }), TypeError);
});
