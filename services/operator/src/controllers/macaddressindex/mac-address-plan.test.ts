import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MACAddressIndex } from '@metal/api/v1alpha1/mac-address-index.ts';
import { type IndexChange, planIndexes } from './mac-address-plan.ts';

const index = (name: string, endpoints: Record<string, string>): MACAddressIndex => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'MACAddressIndex',
  metadata: { name },
  spec: { endpoints },
});
const fleet = (count: number): Map<string, string> =>
  new Map(
    Array.from({ length: count }, (_, number) => [
      (0x02_a0_c0_00_00_00 + number).toString(16).toUpperCase().padStart(12, '0'),
      `node-${number}`,
    ]),
  );
const written = (changes: readonly IndexChange[]): Record<string, IndexChange['entries']> =>
  Object.fromEntries(changes.map(({ name, entries }) => [name, entries]));

/** As the API server does it. */
function carriedOut(changes: readonly IndexChange[], indexes: readonly MACAddressIndex[]): MACAddressIndex[] {
  const changed = changes.map(({ name, index: before, entries }) => {
    const kept = Object.entries({ ...before?.spec.endpoints, ...entries }).filter(([, endpoint]) => endpoint !== null);
    return index(name, Object.fromEntries(kept) as Record<string, string>); // null was filtered out
  });
  return [...indexes.filter(({ metadata: { name } }) => !changes.some((change) => change.name === name)), ...changed];
}

test('correct indexes are not written', () => {
  assert.deepEqual(planIndexes(new Map(), []), []);
  assert.deepEqual(planIndexes(new Map([['A', 'a']]), [index('endpoints-1', { A: 'a' }), index('empty', {})]), []);
});

test('missing, wrong and surplus entries of an index are corrected in one write', () => {
  const first = index('endpoints-1', { A: 'a', B: 'other', C: 'gone' });
  const wanted = new Map(Object.entries({ A: 'a', B: 'b', D: 'd' }));
  assert.deepEqual(written(planIndexes(wanted, [first])), { 'endpoints-1': { B: 'b', C: null, D: 'd' } });
});

test('an address in two indexes is removed from the second', () => {
  const indexes = [index('endpoints-10', { A: 'a' }), index('endpoints-2', { A: 'a' })];
  assert.deepEqual(written(planIndexes(new Map([['A', 'a']]), indexes)), { 'endpoints-10': { A: null } });
});

test('a fleet of 9000 addresses fills three indexes, and entries keep their index while others change', () => {
  const changes = planIndexes(fleet(9_000), []);
  assert.deepEqual(
    changes.map(({ name, entries }) => [name, Object.keys(entries).length]),
    [
      ['endpoints-1', 4_000],
      ['endpoints-2', 4_000],
      ['endpoints-3', 1_000],
    ],
  );
  const indexes = carriedOut(changes, []);
  assert.deepEqual(planIndexes(fleet(9_000), indexes), []);
  const [leaving] = Object.keys(indexes[1]?.spec.endpoints ?? {});
  assert.ok(leaving);
  const wanted = fleet(9_000);
  wanted.delete(leaving);
  wanted.set('NEW', 'new');
  wanted.set('NEWER', 'newer');
  const next = planIndexes(wanted, indexes);
  assert.deepEqual(written(next), {
    'endpoints-2': { [leaving]: null, NEW: 'new' },
    'endpoints-3': { NEWER: 'newer' },
  });
  assert.deepEqual(planIndexes(wanted, carriedOut(next, indexes)), []);
});

test('a further index gets the first free name', () => {
  const full = Object.fromEntries(fleet(4_000));
  const indexes = [index('by-hand', full), index('endpoints-2', {})];
  const wanted = new Map([...fleet(4_000), ...Array.from({ length: 4_001 }, (_, i) => [`N${i}`, `n-${i}`] as const)]);
  assert.deepEqual(
    planIndexes(wanted, indexes).map(({ name, entries }) => [name, Object.keys(entries).length]),
    [
      ['endpoints-2', 4_000],
      ['endpoints-1', 1],
    ],
  );
});
