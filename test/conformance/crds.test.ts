import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { kinds as ownKinds } from '@metal/api/kinds.ts';
import { metal3Kinds } from '@metal/api/metal3/metal3-kinds.ts';
import { addedKinds } from './added-kinds.ts';
import { factsOf, type FieldFact, type KindFacts } from './crd-facts.ts';
import { exceptions } from './exceptions.ts';
import { addedFields, reference as formerReference } from './former-kinds.ts';

const kinds = [...ownKinds, ...metal3Kinds];
// Data of this folder, in the shape that KindFacts describes.
const metal3Reference = JSON.parse(await readFile(new URL('./metal3.io.json', import.meta.url), 'utf8')) as Record<
  string,
  KindFacts
>;
const reference: Readonly<Record<string, KindFacts>> = { ...formerReference, ...metal3Reference };
const ours = new Map(kinds.map((kind) => [kind.kind, factsOf(kind)]));

/** Keywords that reject values. A field with such a keyword that the reference does not have is stricter. */
const refusing = [
  'type',
  'format',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'required',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
];

/** Keywords that must be as in the reference, whether they reject values or not. */
const kept = [...refusing, 'default', 'x-kubernetes-map-type', 'x-kubernetes-int-or-string'];

/** Behind those of the reference, so that scripts that count columns keep working. */
const addedColumns: Readonly<Record<string, readonly string[]>> = {
  Endpoint: ['Ready', 'Reason', 'Message'],
  BMC: ['Reason', 'Message'],
  BMCUser: ['Ready', 'Reason', 'Message'],
  Server: ['Reason', 'Claim', 'Message', 'BIOSVersion', 'BMCVersion'],
  ServerClaim: ['Reason', 'Message'],
  ServerBootConfiguration: ['Reason', 'Message'],
  ServerMaintenance: ['Message'],
  BIOSSettings: ['Reason', 'Message'],
  BIOSSettingsSet: ['Reason', 'Message'],
  BIOSVersion: ['Installed', 'Reason', 'Message'],
  BIOSVersionSet: ['Reason', 'Message'],
  BMCSettings: ['Reason', 'Message'],
  BMCSettingsSet: ['Reason', 'Message'],
  BMCVersion: ['Installed', 'Reason', 'Message'],
  BMCVersionSet: ['Reason', 'Message'],
};

const isExcepted = (kind: string, path: string, keyword: string): boolean =>
  exceptions.some(
    (exception) => exception.kinds.includes(kind) && exception.path === path && exception.keyword === keyword,
  );

test('every kind of the reference exists, and the listed kinds are the only additions', () => {
  const added = [...ours.keys()].filter((kind) => !(kind in reference));
  assert.deepEqual(added, addedKinds);
  assert.deepEqual(
    Object.keys(reference).filter((kind) => !ours.has(kind)),
    [],
  );
});

for (const [kind, expected] of Object.entries(reference)) {
  const found = ours.get(kind);
  if (found === undefined) continue;

  test(`${kind} has the names, scope and subresources of the reference`, () => {
    const { fields: _, printerColumns: __, ...identity } = expected;
    const { fields: ___, printerColumns: ____, ...foundIdentity } = found;
    assert.deepEqual(foundIdentity, identity);
  });

  test(`${kind} has the columns of the reference in their order, followed only by the listed additions`, () => {
    const [frozen, added] = [expected.printerColumns, found.printerColumns.slice(expected.printerColumns.length)];
    assert.deepEqual(found.printerColumns.slice(0, frozen.length), frozen);
    assert.deepEqual(
      added.map(({ name }) => name),
      addedColumns[kind] ?? [],
    );
  });

  test(`${kind} has every field of the reference unchanged`, () => {
    const differences = expected.fields.flatMap((fact) => lossesOf(kind, fact, found.fields));
    assert.deepEqual(differences, []);
  });

  test(`${kind} accepts everything that the reference accepts, except for the listed exceptions`, () => {
    assert.deepEqual(
      found.fields.flatMap((fact) => strictnessOf(kind, fact, expected.fields)),
      [],
    );
  });
}

test('the page about migration lists every field that a rollback to v0.7.0 loses', async () => {
  const page = await readFile(new URL('../../docs/operate/migrate.md', import.meta.url), 'utf8');
  const rows = kinds.flatMap((kind) => {
    const fields = addedFields(kind) ?? [];
    const of = (part: string) =>
      fields.filter((path) => path.startsWith(`${part}.`)).map((path) => `\`${path.slice(part.length + 1)}\``);
    return fields.length === 0 ? [] : [`| ${kind.kind} | ${of('spec').join(', ')} | ${of('status').join(', ')} |`];
  });
  const [, table = ''] = /^\| kind \| of the spec \|.*?\n(.*?)\n\n/ms.exec(page) ?? [];
  assert.deepEqual(
    table.split('\n').filter((line) => /^\| [A-Z]/.test(line)),
    rows,
  );
});

test('every exception is needed and has a reason', () => {
  const unused = exceptions.filter(({ kinds: named, path, keyword, reason }) => {
    const isUsed = named.every((kind) => isStricter(kind, path, keyword) || isLost(kind, path, keyword));
    return !isUsed || reason.length < 10;
  });
  assert.deepEqual(unused, []);
});

/** Facts of the reference that the generated field lacks. An enum may grow. */
function lossesOf(kind: string, fact: FieldFact, fields: readonly FieldFact[]): string[] {
  const found = fields.find(({ path }) => path === fact.path);
  if (found === undefined) return [`${fact.path} is missing`];
  const rules = rulesAt(kind, fact.path).length;
  const constraints = fact.constraints?.length ?? 0;
  if (rules < constraints) return [`${fact.path} has ${rules} rules for ${fact.constraints?.join('; ')}`];
  return kept
    .filter((keyword) => !isKept(keyword, fact[keyword], found[keyword]) && !isExcepted(kind, fact.path, keyword))
    .map((keyword) => `${fact.path}: ${keyword} was ${text(fact[keyword])} and is ${text(found[keyword])}`);
}

function isKept(keyword: string, expected: unknown, found: unknown): boolean {
  if (expected === undefined)
    return keyword !== 'default' && keyword !== 'x-kubernetes-map-type' ? true : !isSurprising(keyword, found);
  if (keyword === 'enum' && Array.isArray(expected) && Array.isArray(found))
    return expected.every((item) => found.includes(item));
  return text(expected) === text(found);
}

/** Defaults of whole specs represent Go's zero values; any other new default would change the result for users. */
const isSurprising = (keyword: string, found: unknown): boolean =>
  found !== undefined && !(keyword === 'default' && typeof found === 'object');

function strictnessOf(kind: string, fact: FieldFact, reference: readonly FieldFact[]): string[] {
  const known = reference.find(({ path }) => path === fact.path);
  // A new field rejects no existing object, unless it is required.
  if (known === undefined)
    return fact.required === true && isBelowKnown(fact, reference) ? [`${fact.path} is new and required`] : [];
  return [...refusing, 'rules']
    .filter((keyword) => isStricter(kind, fact.path, keyword) && !isExcepted(kind, fact.path, keyword))
    .map((keyword) => `${fact.path}: ${keyword} is ${text(fact[keyword])} and was ${text(known[keyword])}`);
}

const isBelowKnown = ({ path }: FieldFact, reference: readonly FieldFact[]): boolean =>
  reference.some((fact) => fact.path === path.slice(0, path.lastIndexOf('.')));

function isStricter(kind: string, path: string, keyword: string): boolean {
  const found = ours.get(kind)?.fields.find((fact) => fact.path === path);
  const known = reference[kind]?.fields.find((fact) => fact.path === path);
  if (keyword === 'rules') return rulesAt(kind, path).length > (known?.constraints?.length ?? 0);
  if (found?.[keyword] === undefined) return false;
  return text(found[keyword]) !== text(known?.[keyword]);
}

function isLost(kind: string, path: string, keyword: string): boolean {
  const [found, known] = [ours.get(kind), reference[kind]].map((facts) =>
    facts?.fields.find((fact) => fact.path === path),
  );
  return known?.[keyword] !== undefined && found !== undefined && found[keyword] === undefined;
}

/** Rules of a field; the empty path is the object itself. */
function rulesAt(kind: string, path: string): readonly unknown[] {
  if (path === '') return kinds.find((candidate) => candidate.kind === kind)?.rules ?? [];
  const rules = ours.get(kind)?.fields.find((fact) => fact.path === path)?.['x-kubernetes-validations'];
  return Array.isArray(rules) ? rules : [];
}

const text = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value));
