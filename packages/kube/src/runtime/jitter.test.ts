import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jitter } from './jitter.ts';

test('a rack that started together is spread evenly over the last tenth of the interval', () => {
  const tenths = Array.from({ length: 10 }, () => 0);
  for (let number = 0; number < 1_000; number += 1) {
    const interval = jitter(100_000, `server-${String(number).padStart(4, '0')}`);
    assert.ok(interval >= 90_000 && interval <= 100_000);
    const tenth = Math.min(9, Math.floor((interval - 90_000) / 1_000));
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  assert.ok(
    tenths.every((count) => count > 60 && count < 140),
    `uneven: ${tenths.join(', ')}`,
  );
});

test('the part of the jitter is an option, in proportion for each name', () => {
  const shortened = (name: string) => 100_000 - jitter(100_000, name, 1 / 2);
  for (const name of ['server-0001', 'server-0002']) {
    assert.ok(shortened(name) <= 50_000);
    assert.equal(Math.round(shortened(name) / 50), Math.round((100_000 - jitter(100_000, name)) / 10));
  }
});

test('a name always has the same interval', () => assert.equal(jitter(120_000, 'a'), jitter(120_000, 'a')));
