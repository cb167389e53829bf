import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../kinds/kind.ts';
import { ObjectMemories } from './memory.ts';

const object = (name: string, uid: string): KubeObject => ({ apiVersion: 'v1', kind: 'Lamp', metadata: { name, uid } });

function openMemories() {
  const disposed: string[] = [];
  const memories = new ObjectMemories(({ metadata: { uid = '' } }: KubeObject) => ({
    uid,
    [Symbol.dispose]: () => void disposed.push(uid),
  }));
  return { memories, disposed };
}

test('an object keeps its memory across versions', () => {
  const { memories, disposed } = openMemories();
  assert.equal(memories.of(object('a', '1')), memories.of(object('a', '1')));
  assert.notEqual(memories.of(object('b', '2')), memories.of(object('a', '1')));
  assert.deepEqual(disposed, []);
});

test('an object that is created again under its name gets a new memory, and the old one is disposed', () => {
  const { memories, disposed } = openMemories();
  memories.of(object('a', '1'));
  assert.equal(memories.of(object('a', '2')).uid, '2');
  assert.deepEqual(disposed, ['1']);
});

test('a dropped memory is disposed once', () => {
  const { memories, disposed } = openMemories();
  memories.of(object('a', '1'));
  memories.drop('a');
  memories.drop('a');
  assert.deepEqual(disposed, ['1']);
});
