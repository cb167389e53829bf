import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InternedStrings } from './interned-strings.ts';

test('an interned string equals the original', () => {
  const strings = new InternedStrings(4);
  for (const text of ['', 'PowerEdge R670', 'Grüße', 'x'.repeat(10_000)]) assert.equal(strings.intern(text), text);
});

test('unique strings are dropped, so that memory is bounded', () => {
  const strings = new InternedStrings(100);
  for (let index = 0; index < 10_000; index += 1) {
    strings.intern(`serial number ${index}`);
    strings.intern('PowerEdge R670');
    assert.ok(strings.size <= 200);
  }
});
