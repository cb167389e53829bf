import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kinds } from '@metal/api/kinds.ts';
import { parseAllDocuments } from 'yaml';
import { crdFiles } from './crds.ts';
import { table } from './markdown.ts';
import { convenienceRoles, generateRbac } from './rbac.ts';
import { stateDiagrams } from './state-diagrams.ts';
import { yamlFile } from './yaml-file.ts';

const readAs = (version: '1.1' | '1.2', text: string) =>
  parseAllDocuments(text, { version }).map((document) => document.toJS());

test('On and Off are strings for YAML 1.1 parsers', () => {
  const { text } = yamlFile('x.yaml', [{ words: ['On', 'Off', 'yes', 'n', '012', '1:30'] }]);
  assert.deepEqual(readAs('1.1', text), [{ words: ['On', 'Off', 'yes', 'n', '012', '1:30'] }]);
});

test('YAML 1.1 and 1.2 parsers read the same CRDs', () => {
  for (const { text } of crdFiles(kinds)) assert.deepEqual(readAs('1.1', text), readAs('1.2', text));
});

test('the manager role allows exactly the writes that its controllers and services declare', () => {
  const files = generateRbac({
    kinds,
    controllers: [
      { name: 'a', writes: ['servers', 'servers/status', 'secrets'] },
      { name: 'c', writes: ['patch:servers', 'patch:serverclaims'] },
    ],
    services: [{ name: 'b', writes: ['servers/status', 'bmcs/status'] }],
  });
  const manager = files.find(({ name }) => name === 'manager.yaml');
  const [role] = readAs('1.2', manager?.text ?? '');
  const rules: { resources: string[]; verbs: string[] }[] = role.rules;
  const writing = rules.filter(({ verbs }) => verbs.includes('patch')).map(({ resources }) => resources);
  assert.deepEqual(writing, [['servers'], ['serverclaims'], ['bmcs/status', 'servers/status'], ['events']]);
  assert.ok(!rules.some(({ resources }) => resources.includes('secrets')), 'no Secret outside its own namespace');
});

test('a resource without a kind is rejected', () => {
  assert.throws(
    () => generateRbac({ kinds, controllers: [{ name: 'a', writes: ['server'] }], services: [] }),
    /no role can be made for server/,
  );
});

test('every kind has roles for admins, editors and viewers', () => {
  const names = convenienceRoles(kinds).flatMap(({ text }) => readAs('1.2', text).map(({ metadata }) => metadata.name));
  assert.equal(names.length, kinds.length * 3);
  assert.ok(names.includes('serverclaim-editor-role'));
});

test('a diagram starts at the first phase and includes unreachable phases', () => {
  const [, file] = stateDiagrams([{ name: 'x', transitions: { Initial: ['Done'], Done: [], Parked: [] } }]);
  assert.match(file?.text ?? '', /\[\*\] --> Initial\n {2}Initial --> Done\n {2}Parked\n/);
});

test('angle brackets in a table are text', () => {
  assert.match(table(['A'], [['a `<b>` <c>']]), /^\| a `<b>` \\<c> \|$/m);
});
