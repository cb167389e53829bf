import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectSchema } from '@metal/kube/kinds/crd.ts';
import { kinds } from './kinds.ts';
import { metal3Kinds } from './metal3/metal3-kinds.ts';
import { BMC } from './v1alpha1/bmc.ts';
import type { BMCSecret } from './v1alpha1/bmc-secret.ts';
import type { BMCVersionSet } from './v1alpha1/bmc-version-set.ts';
import type { Server } from './v1alpha1/server.ts';

type Schema = Readonly<Record<string, unknown>>;
const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

/** Paths of all fields that `kubectl explain` would show without a description. */
function undescribed(schema: Schema, path: string): string[] {
  const members = isSchema(schema.properties) ? Object.entries(schema.properties) : [];
  const here = members.flatMap(([name, member]) => {
    const descriptionLength =
      isSchema(member) && typeof member.description === 'string' ? member.description.length : 0;
    return descriptionLength > 0 ? [] : [`${path}${name}`];
  });
  const below = members.flatMap(([name, member]) => (isSchema(member) ? undescribed(member, `${path}${name}.`) : []));
  return [...here, ...below, ...(isSchema(schema.items) ? undescribed(schema.items, path) : [])];
}

const allKinds = [...kinds, ...metal3Kinds];

for (const kind of allKinds) {
  test(`every field of ${kind.kind} has a description`, () => {
    const identity = new Set(['apiVersion', 'kind', 'metadata']);
    assert.deepEqual(
      undescribed(objectSchema(kind), '').filter((path) => !identity.has(path)),
      [],
    );
  });
}

test('kinds, plurals and short names are unique', () => {
  const names = allKinds.flatMap(({ kind, plural, shortNames }) => [kind, plural, ...shortNames]);
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
});

test('the type of an object reflects the guarantees of the API server', () => {
  type Equal<A, B> = [A, B] extends [B, A] ? true : false;
  const systemUUID: Equal<Server['spec']['systemUUID'], string> = true;
  const refName: Equal<BMC['spec']['bmcSecretRef']['name'], string> = true;
  const claimRef: Equal<NonNullable<Server['spec']['serverClaimRef']>['uid'], string | undefined> = true;
  const status: Equal<undefined extends Server['status'] ? true : false, true> = true;
  const data: Equal<BMCSecret['data'], Record<string, string> | undefined> = true;
  const counted: Equal<NonNullable<BMCVersionSet['status']>['fullyLabeledBMCs'], number | undefined> = true;
  // @ts-expect-error A field that is not in the schema does not compile.
  const unknown: Server['spec']['unknown'] = undefined;
  assert.deepEqual(
    [systemUUID, refName, claimRef, status, data, counted, unknown],
    [...Array(6).fill(true), undefined],
  );
});

test('a manifest is checked against the schema of its kind', () => {
  const found = BMC.schema.safeParse({
    spec: { protocol: { name: 'Redfish', port: '443' }, bmcSecretRef: { name: 's' } },
  });
  assert.deepEqual(
    found.error?.issues.map(({ path }) => path.join('.')),
    ['spec.protocol.port'],
  );
});
