import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { controllers } from '@metal/operator/controllers.ts';
import { reasonSources } from './reason-sources.ts';
import { rejectionReasons } from '@metal/operator/scheduling/rejection-reasons.ts';
import { errorChapters } from './error-chapters.ts';
import { errorPage } from './error-page.ts';
import { reasonPage } from './reason-page.ts';

const entries = [
  ...reasonSources.flatMap(({ name, reasons }) =>
    Object.entries(reasons).map(([reason, entry]) => ({ name, reason, ...entry })),
  ),
  ...Object.entries(rejectionReasons).map(([reason, entry]) => ({ name: 'refusal', reason, ...entry })),
  ...errorChapters.flatMap(({ title, catalogue }) =>
    Object.entries(catalogue).map(([reason, entry]) => ({ name: title, reason, ...entry })),
  ),
];

for (const { name, reason, meaning, remedy } of entries) {
  test(`${name}: ${reason} is explained in full sentences`, () => {
    assert.match(reason, /^[A-Z][A-Za-z0-9]+$/);
    assert.ok(meaning.includes(' '), `"${meaning}" says too little`);
    for (const sentence of [meaning, remedy]) {
      assert.match(sentence, /^(?:[A-Z]|[a-z]+[A-Z.]).*[^.][.?]$/, sentence);
    }
  });
}

test('reasons that reports, facts and events make up are explained, too', async () => {
  const root = fileURLToPath(new URL('../../../../services/operator/src', import.meta.url));
  const explained = new Set(controllers.flatMap(({ reasons }) => Object.keys(reasons)));
  const unexplained: string[] = [];
  for (const path of await readdir(root, { recursive: true })) {
    if (!/(?<!\.test)\.ts$/.test(path) || !existsSync(join(root, dirname(path), 'reasons.ts'))) continue;
    const foundReasons = (await readFile(join(root, path), 'utf8')).matchAll(/(?:\breason: |\bwarn\()'(\w+)'/g);
    for (const [, reason = ''] of foundReasons) if (!explained.has(reason)) unexplained.push(`${path}: ${reason}`);
  }
  assert.deepEqual(unexplained, []);
});

test('a word that two controllers give for one kind means the same', () => {
  const meanings = new Map<string, string>();
  for (const { kind, reasons } of reasonSources) {
    for (const [reason, { meaning }] of Object.entries(reasons)) {
      const key = `${kind.kind} ${reason}`;
      assert.equal(meanings.get(key) ?? meaning, meaning, key);
      meanings.set(key, meaning);
    }
  }
});

test('the page of reasons has a chapter per kind, and controllers of one kind share it', () => {
  const entry = (meaning: string) => ({ meaning, remedy: 'Nothing.' });
  const { text } = reasonPage(
    [
      { name: 'x', kind: { kind: 'Server' }, reasons: { B: entry('second') } },
      { name: 'x', kind: { kind: 'Server' }, reasons: { A: entry('one | two') } },
      { name: 'x', kind: { kind: 'BMC' }, reasons: {} },
    ],
    { Busy: entry('third') },
  );
  assert.deepEqual(text.match(/^## .*/gm), ['## Server', '## Words in the message of NoServerMatches']);
  assert.match(text, /\| `A` \| one \\\| two \| Nothing\. \|\n\| `B` \|/);
});

test('the page of errors says which are tried again', () => {
  const catalogue = { Away: { retry: 'later', meaning: 'It is away.', remedy: 'Nothing.' } } as const;
  assert.match(errorPage([{ title: 'X', catalogue }]).text, /## X[^]*\| `Away` \| later \|/);
});
