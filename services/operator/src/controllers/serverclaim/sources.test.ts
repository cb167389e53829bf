import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';
import { schedulerSource } from './sources.ts';

test('a claim is enqueued when a server is chosen for it, and when its explanation is out of date', () => {
  const scheduler = { assumed: new KeyNotifier(), reasonChanged: new KeyNotifier() };
  const enqueued: string[] = [];
  const subscription = schedulerSource({ scheduler }, (claimKey) => enqueued.push(claimKey));
  scheduler.assumed.emit('team/one');
  scheduler.reasonChanged.emit('team/two');
  subscription[Symbol.dispose]();
  scheduler.assumed.emit('team/three');
  scheduler.reasonChanged.emit('team/three');
  assert.deepEqual(enqueued, ['team/one', 'team/two']);
});
