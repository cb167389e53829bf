import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controllers } from '@metal/operator/controllers.ts';
import { errorChapters } from './error-chapters.ts';
import { errorPage } from './error-page.ts';
import { reasonPage } from './reason-page.ts';

const entries = [
  ...controllers.flatMap(({ name, reasons }) =>
    Object.entries(reasons).map(([word, entry]) => ({ name, word, ...entry })),
  ),
  ...errorChapters.flatMap(({ title, catalogue }) =>
    Object.entries(catalogue).map(([word, entry]) => ({ name: title, word, ...entry })),
  ),
];

for (const { name, word, meaning, remedy } of entries) {
  test(`${name}: ${word} is explained in full sentences`, () => {
    assert.match(word, /^[A-Z][A-Za-z0-9]+$/);
    for (const sentence of [meaning, remedy]) {
      assert.match(sentence, /^[A-Z].*[^.]\.$/, sentence);
      assert.ok(sentence.split(' ').length >= 4, `"${sentence}" says too little`);
    }
  });
}

test('the page of reasons has a chapter per kind, and controllers of one kind share it', () => {
  const entry = (meaning: string) => ({ meaning, remedy: 'Nothing.' });
  const { text } = reasonPage([
    { kind: { kind: 'Server' }, reasons: { B: entry('second') } },
    { kind: { kind: 'Server' }, reasons: { A: entry('one | two') } },
    { kind: { kind: 'BMC' }, reasons: {} },
  ]);
  assert.deepEqual(text.match(/^## .*/gm), ['## Server']);
  assert.match(text, /\| `A` \| one \\\| two \| Nothing\. \|\n\| `B` \|/);
});

test('the page of errors says which are tried again', () => {
  const catalogue = { Away: { retry: 'later', meaning: 'It is away.', remedy: 'Nothing.' } } as const;
  assert.match(errorPage([{ title: 'X', catalogue }]).text, /## X[^]*\| `Away` \| later \|/);
});
