import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lease } from '../kinds/builtin.ts';
import { systemClock } from '../runtime/clock.ts';
import { LeaseObserver } from './lease-observer.ts';

/** A candidate without observations, and a clock that moves by `pass`. */
function openObserver() {
  let now = 0;
  const clock = { ...systemClock, now: () => now };
  const observer = new LeaseObserver({ clock, identity: 'heir', leaseMs: 15_000, retryMs: 2_000 });
  return { observer, pass: (ms: number) => void (now += ms) };
}

const leaseAt = (resourceVersion: string, seconds?: number): Lease => ({
  apiVersion: Lease.apiVersion,
  kind: Lease.kind,
  metadata: { name: 'leader', resourceVersion },
  spec: { holderIdentity: 'leader', leaseDurationSeconds: seconds },
});

test('a lease expires its duration, or the default, after its version was observed', () => {
  for (const [seconds, leaseMs] of [
    [60, 60_000],
    [undefined, 15_000],
  ] as const) {
    const { observer, pass } = openObserver();
    const lease = leaseAt('9', seconds);
    observer.onWatch(lease);
    pass(leaseMs - 1);
    assert.equal(observer.isOver(lease), false);
    pass(1);
    assert.equal(observer.isOver(lease), true);
    assert.equal(observer.isOver(leaseAt('10', seconds)), false, 'that version was never observed');
  }
});

test('a version counts from when it was first observed, by watch or read', () => {
  const { observer, pass } = openObserver();
  observer.onWatch(leaseAt('9'));
  pass(1_000);
  observer.onRead(leaseAt('10'), '9');
  pass(14_000);
  observer.onWatch(leaseAt('9'));
  observer.onWatch(leaseAt('10'));
  observer.onRead(leaseAt('10'), '10');
  pass(1_000);
  assert.equal(observer.isOver(leaseAt('10')), true);
});

test('a response that is older than the last watch event is ignored', () => {
  const { observer, pass } = openObserver();
  observer.onWatch(leaseAt('9'));
  const known = observer.version;
  observer.onWatch(leaseAt('10'));
  pass(1_000);
  observer.onRead(leaseAt('9'), known);
  pass(14_000);
  assert.deepEqual([observer.isOver(leaseAt('9')), observer.isOver(leaseAt('10'))], [false, true]);
});

test('after a restore of etcd the lease duration starts again at the restored version', () => {
  const { observer, pass } = openObserver();
  observer.onWatch(leaseAt('1000'));
  pass(15_000);
  observer.onRead(leaseAt('9'), observer.version);
  assert.equal(observer.isOver(leaseAt('9')), false);
  pass(15_000);
  assert.equal(observer.isOver(leaseAt('9')), true);
});

test('the deletion of a lease does not expire its successor', () => {
  const { observer, pass } = openObserver();
  observer.onRead(leaseAt('9'), undefined);
  pass(1_000);
  observer.onWatch(undefined);
  assert.equal(observer.isOver(leaseAt('9')), false);
});
