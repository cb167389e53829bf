import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesOfOthers, shortened, validationFailure } from './settings-changes.ts';

test('a long text of a BMC is cut', () => {
  assert.equal(shortened('a'.repeat(160)), 'a'.repeat(160));
  assert.equal(shortened('a'.repeat(161)), `${'a'.repeat(159)}…`);
});

test('a message about invalid settings names as many as it has space for, and counts the others', () => {
  const problem = (name: string, length: number) => ({ name, message: 'x'.repeat(length) });
  const messageOf = (...lengths: number[]) =>
    validationFailure(lengths.map((length, index) => problem(`N${index}`, length)))?.message ?? '';
  assert.equal(messageOf(2, 2, 2, 2), 'N0 xx; N1 xx; N2 xx; and 1 more');
  assert.equal(messageOf(70, 70, 70), `N0 ${'x'.repeat(70)}; N1 ${'x'.repeat(70)}; and 1 more`);
  assert.match(messageOf(300, 2), /^N0 x+…; and 1 more$/);
  for (const message of [messageOf(70, 70, 70), messageOf(300), messageOf(300, 300, 300, 300)])
    assert.ok(message.length <= 160, message);
});

test('one change of others is singular', () => {
  assert.equal(changesOfOthers(['A']), '1 change of others (A) waits');
  assert.equal(changesOfOthers(['A', 'B']), '2 changes of others (A …) wait');
});
