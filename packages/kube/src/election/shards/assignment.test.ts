import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Assignment, type ObservedMember } from './assignment.ts';
import { AssignmentView } from './rendezvous.ts';

const buckets = 32;
const all = Array.from({ length: buckets }, (_, bucket) => bucket);
const observedMember = (name: string, version: string, ...members: string[]): ObservedMember => ({
  name,
  version,
  leaseMs: 15_000,
  view: new AssignmentView(members, buckets),
});

/** The one called a, which has written its view and read the leases of all. */
function memberAmong(...others: ObservedMember[]): Assignment {
  const member = new Assignment({ self: 'a', renewMs: 10_000, buckets });
  member.observe(others, 0);
  renew(member, 0);
  member.observe(others, 0);
  return member;
}

function renew(member: Assignment, now: number): void {
  const view = member.viewToWrite();
  member.tries(view);
  member.wrote(view, { requestedAt: now, now });
}

function prepare(member: Assignment): void {
  const grant = member.toPrepare;
  if (grant !== undefined) member.prepared(grant);
}

const ownedBuckets = (member: Assignment, now: number) => all.filter((bucket) => member.isOwner(bucket, now));

test('one that is alone acts on everything, once it has caught up, until its lease runs out', () => {
  const member = memberAmong();
  assert.deepEqual(ownedBuckets(member, 0), []);
  prepare(member);
  assert.deepEqual(ownedBuckets(member, 9_999), all);
  assert.deepEqual(ownedBuckets(member, 10_000), []);
});

test('a newcomer begins nothing that another still claims, and says who that is', () => {
  const member = memberAmong(observedMember('b', '1', 'b'));
  prepare(member);
  assert.deepEqual(ownedBuckets(member, 0), []);
  assert.deepEqual(member.blockers, ['b']);
  member.observe([observedMember('b', '2', 'a', 'b')], 2_000);
  prepare(member);
  assert.deepEqual(
    ownedBuckets(member, 2_000),
    all.filter((bucket) => new AssignmentView(['a', 'b'], buckets).gives(bucket, 'a')),
  );
  assert.deepEqual(member.blockers, []);
});

test('what is lost to a newcomer is finished before that is written, and not begun again', () => {
  const member = memberAmong();
  prepare(member);
  member.observe([observedMember('b', '1', 'a', 'b')], 1_000);
  const lost = all.filter((bucket) => new AssignmentView(['a', 'b'], buckets).gives(bucket, 'b'));
  const stopping = member.stop();
  assert.deepEqual(
    all.filter((bucket) => stopping.has(bucket)),
    lost,
  );
  assert.deepEqual(member.viewToWrite().members, ['a']);
  assert.ok(lost.every((bucket) => member.isOwner(bucket, 1_000) && !member.mayStart(bucket, 1_000)));
  member.stopped();
  assert.deepEqual(member.viewToWrite().members, ['a', 'b']);
  assert.ok(lost.every((bucket) => !member.isOwner(bucket, 1_000)));
});

test('what was begun is kept although a latecomer claims it: that one sees who was first', () => {
  const member = memberAmong();
  prepare(member);
  member.observe([observedMember('b', '1', 'b')], 1_000);
  assert.deepEqual(ownedBuckets(member, 1_000), all);
});

test('one that is not seen to renew for its lease time is counted out, by the clock of whoever counts', () => {
  const member = memberAmong(observedMember('b', '1', 'a', 'b'));
  prepare(member);
  for (const now of [5_000, 10_000, 14_999]) {
    renew(member, now);
    member.observe([observedMember('b', '1', 'a', 'b')], now);
  }
  assert.deepEqual(member.target.members, ['a', 'b']);
  assert.equal(member.nextExpiryAt(14_999), 15_000);
  member.observe([observedMember('b', '1', 'a', 'b')], 15_000);
  renew(member, 15_000);
  assert.deepEqual(member.target.members, ['a']);
  assert.deepEqual(
    member.expired(15_000).map(({ name }) => name),
    ['b'],
  );
  member.observe([observedMember('b', '1', 'a', 'b')], 15_000);
  prepare(member);
  assert.ok(ownedBuckets(member, 15_000).length < buckets, 'its claims stand while its lease is there');
  member.observe([], 15_001);
  prepare(member);
  assert.deepEqual(ownedBuckets(member, 15_001), all);
});

test('an answer that comes after the lease ran out revives nobody', () => {
  const member = memberAmong();
  prepare(member);
  member.wrote(member.viewToWrite(), { requestedAt: 9_900, now: 10_100 });
  assert.deepEqual(ownedBuckets(member, 10_100), []);
  assert.ok(!member.isAlive(10_100));
});

test('while the fate of a write is unknown, nothing is begun that one of the possible views gives away', () => {
  const member = memberAmong();
  prepare(member);
  const newcomer = observedMember('b', '1', 'a', 'b');
  member.observe([newcomer], 1_000);
  member.stop();
  member.stopped();
  member.tries(member.viewToWrite());
  // No answer came, and the newcomer is gone again.
  member.observe([], 2_000);
  prepare(member);
  const kept = all.filter((bucket) => new AssignmentView(['a', 'b'], buckets).gives(bucket, 'a'));
  assert.deepEqual(ownedBuckets(member, 2_000), kept);
  renew(member, 3_000);
  member.observe([], 3_000);
  prepare(member);
  assert.deepEqual(ownedBuckets(member, 3_000), all);
});

test('a view that cannot be read is taken for a claim to everything', () => {
  const member = memberAmong({ name: 'b', version: '1', leaseMs: 15_000, view: undefined });
  prepare(member);
  assert.deepEqual(ownedBuckets(member, 0), []);
});
