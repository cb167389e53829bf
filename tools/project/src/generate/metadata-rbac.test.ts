import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { metadataRbac } from './metadata-rbac.ts';

interface Role {
  kind: string;
  metadata: { name: string; namespace?: string };
  rules: { resources: string[]; resourceNames?: string[]; verbs: string[] }[];
}

// Written by the function under test; what it lacks fails below.
const roles = (): Role[] => parseAllDocuments(metadataRbac().text).map((document) => document.toJS() as Role);

test('the metadata service reads no Secrets and writes nothing but events', () => {
  const role = roles().find(({ metadata }) => metadata.name === 'metal-operator-metadata');
  assert.equal(role?.kind, 'ClusterRole');
  const reading = new Set(['get', 'list', 'watch']);
  for (const { resources, verbs } of role?.rules ?? []) {
    assert.equal(resources.includes('secrets'), false);
    assert.ok(resources.includes('events') || verbs.every((verb) => reading.has(verb)));
  }
});

test('Secrets are got by name, and never listed', () => {
  const rules = roles().flatMap((role) => role.rules.map((rule) => ({ ...rule, role })));
  const onSecrets = rules.filter(({ resources }) => resources.includes('secrets'));
  assert.deepEqual(
    onSecrets.map(({ role, verbs, resourceNames }) => [role.kind, role.metadata.name, verbs, resourceNames]),
    [
      ['ClusterRole', 'metal-operator-user-data-reader', ['get'], undefined],
      ['Role', 'metal-operator-boot-key-reader', ['get'], ['metal-operator-boot-key']],
    ],
  );
});
