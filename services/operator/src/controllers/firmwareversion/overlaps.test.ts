import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import { rolloutWaitAnnotation } from '@metal/api/wire/contract.ts';
import { contradictionOf, precursorOf } from './overlaps.ts';

const adapter = { id: 'NIC.Slot.3', name: 'Ethernet E810-XXV', manufacturer: 'Intel' };
type Spec = Partial<FirmwareVersion['spec']>;

const objectOf = (name: string, spec: Spec, more: Partial<FirmwareVersion> = {}): FirmwareVersion => ({
  apiVersion: '',
  kind: 'FirmwareVersion',
  metadata: { name, uid: name, creationTimestamp: '2026-01-01T00:00:00Z', ...more.metadata },
  spec: { version: '2', serverRef: { name: 'one' }, component: { id: adapter.id }, image: { URI: '' }, ...spec },
  status: more.status,
});
const byId = objectOf('a', {});
const contradiction = (one: FirmwareVersion, other: FirmwareVersion) => contradictionOf(one, [adapter], [one, other]);
const precursor = (one: FirmwareVersion, other: FirmwareVersion) =>
  precursorOf(one, [adapter], [one, other])?.metadata.name;

const selectors: readonly FirmwareVersion['spec']['component'][] = [
  { name: adapter.name },
  { manufacturer: 'intel' },
  { pattern: 'nic*' },
  { id: adapter.id, manufacturer: 'Intel' },
];
for (const component of selectors)
  test(`two versions of one component contradict each other, with the other selector ${JSON.stringify(component)}`, () => {
    const other = objectOf('b', { component, version: '3' });
    assert.equal(contradiction(byId, other), 'FirmwareVersion b wants version 3 of NIC.Slot.3');
    assert.equal(contradiction(other, byId), 'FirmwareVersion a wants version 2 of NIC.Slot.3');
  });

const byName: Spec = { component: { name: adapter.name } };
const newer: Spec = { ...byName, version: '3' };
const gone = { metadata: { name: 'b', deletionTimestamp: '2026-01-01T00:00:05Z' } };
const harmless: readonly (readonly [what: string, other: FirmwareVersion])[] = [
  ['the same version', objectOf('b', byName)],
  ['another component', objectOf('b', { component: { id: 'PSU' }, version: '3' })],
  ['the same selector, whose oldest object has the target', objectOf('b', { version: '3' })],
  ['an object that is being deleted', objectOf('b', newer, gone)],
  ['a dry run', objectOf('b', { ...newer, dryRun: true })],
];
for (const [what, other] of harmless)
  test(`${what} is no contradiction`, () => assert.equal(contradiction(byId, other), undefined));

test('a dry run has no contradiction: it changes nothing', () => {
  assert.equal(contradiction(objectOf('b', { ...newer, dryRun: true }), byId), undefined);
});

const inState = (state: 'Pending' | 'InProgress' | 'Failed' | 'Completed') => ({
  metadata: { name: 'b' },
  status: { state },
});
const held = { metadata: { name: 'a', annotations: { [rolloutWaitAnnotation]: 'later' } } };
const orders: readonly (readonly [what: string, a: FirmwareVersion, b: FirmwareVersion, first: 'a' | 'b' | 'both'])[] =
  [
    ['the oldest comes first', byId, objectOf('b', byName), 'a'],
    ['one in progress comes first', byId, objectOf('b', byName, inState('InProgress')), 'b'],
    ['one that waits for its rollout comes later', objectOf('a', {}, held), objectOf('b', byName), 'b'],
    ['a failed one is not awaited', objectOf('a', {}, inState('Failed')), objectOf('b', byName), 'b'],
    ['one that is done is not awaited', objectOf('a', {}, inState('Completed')), objectOf('b', byName), 'b'],
    ['another version is not awaited', byId, objectOf('b', newer), 'both'],
  ];
for (const [what, a, b, first] of orders)
  test(`of two objects for one version of one component ${what}`, () => {
    const free = [a, b].filter((one) => precursor(one, one === a ? b : a) === undefined);
    assert.ok(first === 'both' ? free.length === 2 : free.includes(first === 'a' ? a : b));
    // Never both of them wait.
    assert.notEqual(free.length, 0);
    if (first === 'a') assert.equal(precursor(b, a), 'a');
  });
