import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketOf, emptyView, AssignmentView } from './rendezvous.ts';

const keys = Array.from({ length: 3_000 }, (_, index) => `bmc-${index}`);

function ownerOf(key: string, view: AssignmentView): string {
  return view.members.find((member) => view.gives(bucketOf(key), member)) ?? assert.fail('every key has an owner');
}

function sharesOf(view: AssignmentView): Map<string, number> {
  const shares = new Map<string, number>();
  for (const key of keys) {
    const owner = ownerOf(key, view);
    shares.set(owner, (shares.get(owner) ?? 0) + 1);
  }
  return shares;
}

for (const members of [
  ['operator-0', 'operator-1', 'operator-2'],
  ['metal-7d9f-abcde', 'metal-7d9f-fghij', 'metal-7d9f-klmno'],
])
  test(`each of three members (${members[0]}, …) has a third of 3000 keys, within a tenth`, () => {
    for (const [member, count] of sharesOf(new AssignmentView(members)))
      assert.ok(Math.abs(count - 1_000) <= 100, `${member} has ${count}`);
  });

test('of many groups of three, hardly one is out of balance by a tenth', () => {
  const groups = Array.from(
    { length: 100 },
    (_, index) => new AssignmentView([`a-${index}`, `b-${index}`, `c-${index}`]),
  );
  const uneven = groups.filter((view) => [...sharesOf(view).values()].some((count) => Math.abs(count - 1_000) > 100));
  assert.ok(uneven.length <= 1, `${uneven.length} of ${groups.length}`);
});

test('when a member leaves, only its keys move', () => {
  const three = new AssignmentView(['a', 'b', 'c']);
  const two = new AssignmentView(['a', 'c']);
  for (const key of keys) {
    const before = ownerOf(key, three);
    if (before !== 'b') assert.equal(ownerOf(key, two), before);
  }
});

test('a fourth member takes a quarter, and no key moves between the others', () => {
  const three = new AssignmentView(['a', 'b', 'c']);
  const four = new AssignmentView(['a', 'b', 'c', 'd']);
  const moved = keys.filter((key) => ownerOf(key, three) !== ownerOf(key, four));
  assert.ok(moved.every((key) => ownerOf(key, four) === 'd'));
  assert.ok(Math.abs(moved.length - 750) < 100, `${moved.length} moved`);
});

test('views of the same members are equal in any order, and an empty view assigns nothing', () => {
  assert.ok(new AssignmentView(['b', 'a', 'b']).equals(new AssignmentView(['a', 'b'])));
  assert.equal(new AssignmentView(['b', 'a']).text, '["a","b"]');
  assert.ok(!emptyView.gives(0, 'a'));
});
