import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOf, rivalAmong } from './targets.ts';
import type { UpdateObject, UpdateStatus } from './types.ts';

const objectOf = (name: string, second: number, version = '1', status?: UpdateStatus): UpdateObject => ({
  apiVersion: '',
  kind: 'BIOSVersion',
  metadata: { name, uid: name, creationTimestamp: `2026-01-01T00:00:0${second}Z` },
  spec: { version },
  status,
});
const oldest = { latestFirst: false };
const latest = { latestFirst: true };
const [older, younger] = [objectOf('older', 1, '1.10'), objectOf('younger', 2, '1.9')];

test('a target belongs to the oldest object', () => {
  assert.equal(rivalAmong(older, [younger, older], oldest), undefined);
  assert.equal(rivalAmong(younger, [younger, older], oldest), 'BIOSVersion older has this target');
});

test('an object alone has its target', () => {
  assert.equal(rivalAmong(younger, [younger], oldest), undefined);
});

test('an object that is being deleted has no target', () => {
  const deleted = { ...older, metadata: { ...older.metadata, deletionTimestamp: '2026-01-01T00:00:05Z' } };
  assert.equal(rivalAmong(younger, [deleted, younger], oldest), undefined);
});

test('an object that has sent its change keeps its target', () => {
  const sendTime = '2026-01-01T00:00:05Z';
  const running = { ...younger, status: { state: 'InProgress', attempt: { sendTime } } };
  assert.equal(rivalAmong(older, [older, running], oldest), 'BIOSVersion younger has this target');
  const waiting = { ...younger, status: { state: 'InProgress', attempt: { startTime: sendTime } } };
  assert.equal(rivalAmong(older, [older, waiting], oldest), undefined);
});

test('versions are ordered as versions: 1.10 is later than 1.9', () => {
  const [nine, ten] = [objectOf('nine', 1, '1.9'), objectOf('ten', 2, '1.10')];
  assert.equal(rivalAmong(nine, [nine, ten], latest), 'BIOSVersion ten has this target');
  assert.equal(rivalAmong(ten, [nine, ten], latest), undefined);
});

test('versions that cannot be ordered leave the target with the oldest object', () => {
  const [one, two] = [objectOf('one', 1, 'U46 v2.10'), objectOf('two', 2, 'U54 v1.48')];
  assert.equal(rivalAmong(two, [one, two], latest), 'BIOSVersion one has this target');
});

test('the order of members does not change what is desired, and that of a list does', () => {
  assert.equal(digestOf({ a: 1, b: [1, 2] }), digestOf({ b: [1, 2], a: 1 }));
  assert.notEqual(digestOf({ b: [1, 2] }), digestOf({ b: [2, 1] }));
});
