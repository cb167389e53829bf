import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { kinds as ownKinds } from '@metal/api/kinds.ts';
import { metal3Kinds } from '@metal/api/metal3/metal3-kinds.ts';
import { controllers } from '@metal/operator/controllers.ts';
import type { ReasonEntry } from '@metal/kube/controller/decide.ts';
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
    if (!/(?<!\.test)\.ts$/.test(path)) continue;
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
  const entries = new Map<string, ReasonEntry>();
  for (const { kind, reasons } of reasonSources) {
    for (const [reason, entry] of Object.entries(reasons)) {
      const key = `${kind.kind} ${reason}`;
      assert.deepEqual(entries.get(key) ?? entry, entry, key);
      entries.set(key, entry);
    }
  }
});

const kinds = [...ownKinds, ...metal3Kinds];
const catalogue = [
  ...reasonSources.flatMap(({ kind, reasons }) =>
    Object.entries<ReasonEntry>(reasons).map(([reason, entry]) => ({ kind: kind.kind, reason, ...entry })),
  ),
  ...Object.entries<ReasonEntry>(rejectionReasons).map(([reason, entry]) => ({ kind: 'Server', reason, ...entry })),
];

test('a reason that needs a person never has the remedy to do nothing', () => {
  const urgent = catalogue.filter(({ weight }) => weight === 'needsPerson' || weight === 'failed');
  assert.ok(urgent.length > 50);
  assert.deepEqual(
    urgent.filter(({ remedy }) => remedy.startsWith('Nothing')),
    [],
  );
});

test('a reason points to an existing kind', () => {
  const known = new Set(kinds.map(({ kind }) => kind));
  assert.deepEqual(
    catalogue.filter(({ pointsTo }) => pointsTo !== undefined && !known.has(pointsTo)),
    [],
  );
});

for (const { kind, reason, command } of catalogue) {
  if (command === undefined) continue;
  test(`${kind}: the command of ${reason} names resources, namespaces and fields that exist`, () => {
    const [, verb = '', resource = '', rest = ''] = /^kubectl (\S+) (\S+)(.*)$/s.exec(command) ?? [];
    assert.match(verb, /^(?:annotate|create|delete|describe|edit|get|label|patch)$/);
    for (const name of verb === 'create' || resource === 'pods' ? [] : resource.split(',')) {
      const target = kinds.find(({ singular, plural, group }) =>
        [singular, plural, `${plural}.${group}`].includes(name),
      );
      assert.ok(target !== undefined, `${name} is no resource`);
      // The core API has endpoints too.
      assert.notEqual(name, target.kind === 'Endpoint' ? target.plural : '');
      assert.equal(/ -n \{|-A/.test(rest), target.scope === 'Namespaced', command);
    }
    assert.deepEqual(rest.match(/\{(?!name\}|namespace\}|spec(?:\.\w+)+\}|\.spec|")[^}]*\}/g), null, command);
  });
}

test('the page of reasons has one chapter for each kind, what needs a person first', () => {
  const entry = (meaning: string) => ({ meaning, remedy: 'Nothing.', weight: 'ok', actor: 'operator' }) as const;
  const urgent = { ...entry('urgent'), weight: 'failed', actor: 'person', command: 'kubectl get servers' } as const;
  const { text } = reasonPage(
    [
      { name: 'x', kind: { kind: 'Server' }, reasons: { B: entry('second'), C: urgent } },
      { name: 'x', kind: { kind: 'Server' }, reasons: { A: entry('one | two') } },
      { name: 'x', kind: { kind: 'BMC' }, reasons: {} },
    ],
    { Busy: entry('third') },
  );
  assert.deepEqual(text.match(/^##.*/gm), [
    '## What needs a person',
    '### Server',
    '## Other reasons',
    '### Server',
    '## Words in the message of NoServerMatches',
  ]);
  assert.match(
    text,
    /\| <a id="server-c"><\/a>`C` \(failed\) \| urgent \|[^]*\| <a id="server-a"><\/a>`A` \| one \\\| two \| Nothing\. \| ok \|  \|\n\| <a id="server-b"><\/a>`B` \|/,
  );
});

test('the page of errors lists the retry class', () => {
  const catalogue = { Away: { retry: 'later', meaning: 'It is away.', remedy: 'Nothing.' } } as const;
  assert.match(errorPage([{ title: 'X', catalogue }]).text, /## X[^]*\| `Away` \| later \|/);
});
