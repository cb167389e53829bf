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

test('a single member owns all buckets, once it is prepared, until its lease expires', () => {
  const member = memberAmong();
  assert.deepEqual(ownedBuckets(member, 0), []);
  prepare(member);
  assert.deepEqual(ownedBuckets(member, 9_999), all);
  assert.deepEqual(ownedBuckets(member, 10_000), []);
});

test('a new member owns no bucket that another one still claims, and names its blockers', () => {
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

test('a member stops lost buckets before it writes its new view, and does not start them again', () => {
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

test('an owned bucket is kept although a later member claims it, which sees the earlier claim', () => {
  const member = memberAmong();
  prepare(member);
  member.observe([observedMember('b', '1', 'b')], 1_000);
  assert.deepEqual(ownedBuckets(member, 1_000), all);
});

test("a member without a renewal for its lease duration expires, by the observer's clock", () => {
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
  assert.ok(ownedBuckets(member, 15_000).length < buckets, 'its claims hold until its lease is removed');
  member.observe([], 15_001);
  prepare(member);
  assert.deepEqual(ownedBuckets(member, 15_001), all);
});

test('a response after the lease expired is ignored', () => {
  const member = memberAmong();
  prepare(member);
  member.wrote(member.viewToWrite(), { requestedAt: 9_900, now: 10_100 });
  assert.deepEqual(ownedBuckets(member, 10_100), []);
  assert.ok(!member.isAlive(10_100));
});

test('while the outcome of a write is unknown, a bucket that one of the possible views gives up is not granted', () => {
  const member = memberAmong();
  prepare(member);
  const joined = observedMember('b', '1', 'a', 'b');
  member.observe([joined], 1_000);
  member.stop();
  member.stopped();
  member.tries(member.viewToWrite());
  // The write had no response, and `b` has left.
  member.observe([], 2_000);
  prepare(member);
  const kept = all.filter((bucket) => new AssignmentView(['a', 'b'], buckets).gives(bucket, 'a'));
  assert.deepEqual(ownedBuckets(member, 2_000), kept);
  renew(member, 3_000);
  member.observe([], 3_000);
  prepare(member);
  assert.deepEqual(ownedBuckets(member, 3_000), all);
});

test('an unreadable view counts as a claim to all buckets', () => {
  const member = memberAmong({ name: 'b', version: '1', leaseMs: 15_000, view: undefined });
  prepare(member);
  assert.deepEqual(ownedBuckets(member, 0), []);
});
