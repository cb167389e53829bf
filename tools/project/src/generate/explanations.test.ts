import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
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
  ...Object.entries(rejectionReasons).map(([reason, entry]) => ({ name: 'rejection', reason, ...entry })),
  ...errorChapters.flatMap(({ title, catalogue }) =>
    Object.entries(catalogue).map(([reason, entry]) => ({ name: title, reason, ...entry })),
  ),
];

for (const { name, reason, meaning, remedy } of entries) {
  test(`${name}: ${reason} has an explanation in full sentences`, () => {
    assert.match(reason, /^[A-Z][A-Za-z0-9]+$/);
    assert.ok(meaning.includes(' '), `"${meaning}" is too short`);
    for (const sentence of [meaning, remedy]) {
      assert.match(sentence, /^(?:[A-Z]|[a-z]+[A-Z.]).*[^.][.?]$/, sentence);
    }
  });
}

test('every reason in the operator source outside of tables has an explanation', async () => {
  const root = fileURLToPath(new URL('../../../../services/operator/src', import.meta.url));
  const explained = new Set([
    ...controllers.flatMap(({ reasons }) => Object.keys(reasons)),
    ...Object.keys(rejectionReasons),
  ]);
  const found: string[] = [];
  for (const path of await readdir(root, { recursive: true })) {
    if (!/(?<!\.test|\.rows)\.ts$/.test(path)) continue;
    const reasons = (await readFile(join(root, path), 'utf8')).matchAll(/(?:\breason: |\bwarn\()'(\w+)'/g);
    for (const [, reason = ''] of reasons) found.push(`${path}: ${reason}`);
  }
  assert.ok(found.length > 50, `found only ${found.length} reasons; does the pattern still match the source?`);
  assert.deepEqual(
    found.filter((entry) => !explained.has(entry.split(': ')[1] ?? '')),
    [],
  );
});

test('a reason that two controllers report for one kind has one meaning', () => {
  const meanings = new Map<string, string>();
  for (const { kind, reasons } of reasonSources) {
    for (const [reason, { meaning }] of Object.entries(reasons)) {
      const key = `${kind.kind} ${reason}`;
      assert.equal(meanings.get(key) ?? meaning, meaning, key);
      meanings.set(key, meaning);
    }
  }
});

test('the page of reasons has one chapter for each kind', () => {
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

test('the page of errors lists the retry class', () => {
  const catalogue = { Away: { retry: 'later', meaning: 'It is away.', remedy: 'Nothing.' } } as const;
  assert.match(errorPage([{ title: 'X', catalogue }]).text, /## X[^]*\| `Away` \| later \|/);
});
