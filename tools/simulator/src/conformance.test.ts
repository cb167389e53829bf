import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failedAssertions, quirksOf, violations } from './conformance.ts';
import { profiles, vendors } from './profiles.ts';

test('the generic profile has no quirk and violates nothing', () => {
  assert.deepEqual(quirksOf(profiles.generic), []);
  assert.deepEqual(failedAssertions(profiles.generic), []);
});

test('a violation belongs to a quirk of a profile', () => {
  for (const { quirk, isIn } of violations) {
    const having = vendors.filter((vendor) => isIn(profiles[vendor]));
    assert.ok(having.length > 0, `${quirk} is a quirk of no profile`);
    for (const vendor of having) assert.ok(quirksOf(profiles[vendor]).some(([name]) => name === quirk));
  }
});
