import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Signal } from '../../signal.ts';
import { wakeWithScheduler } from './wakes.ts';

test('claims are looked at when they were promised a server, and when they wait for something else than they say', () => {
  const scheduler = { promised: new Signal(), reconsidered: new Signal() };
  const woken: string[] = [];
  const subscription = wakeWithScheduler({ scheduler }, (claimKey) => woken.push(claimKey));
  scheduler.promised.emit('team/one');
  scheduler.reconsidered.emit('team/two');
  subscription[Symbol.dispose]();
  scheduler.promised.emit('team/three');
  scheduler.reconsidered.emit('team/three');
  assert.deepEqual(woken, ['team/one', 'team/two']);
});
