import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint } from './v1alpha1/endpoint.ts';
import { holderOf, macIdentityOf, separatedMacAddress, duplicatesOf } from './mac-address.ts';

test('a MAC address has one identity in every notation', () => {
  for (const text of ['aa:bb:cc:dd:ee:01', 'AA-BB-CC-DD-EE-01', 'aabb.ccdd.ee01', 'AABBCCDDEE01'])
    assert.equal(macIdentityOf(text), 'AABBCCDDEE01');
  for (const text of [undefined, '', 'aa:bb', 'aa:bb:cc:dd:ee:0g']) assert.equal(macIdentityOf(text), undefined);
});

test('a MAC address in a status is written in pairs, and pairs stay unchanged', () => {
  assert.equal(separatedMacAddress('AA-bb-cc-dd-ee-01'), 'AA-bb-cc-dd-ee-01');
  assert.equal(separatedMacAddress('AABB.CCDD.EE01'), 'aa:bb:cc:dd:ee:01');
  assert.equal(separatedMacAddress('AABBCCDDEE01'), 'aa:bb:cc:dd:ee:01');
  assert.equal(separatedMacAddress('x'), undefined);
});

const endpoint = (name: string, creationTimestamp: string, deletionTimestamp?: string): Endpoint => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Endpoint',
  metadata: { name, creationTimestamp, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
});

test('endpoints with one MAC address are ordered by BMC, then age, then name', () => {
  const [a, b, c] = [
    endpoint('a', '2026-01-02T00:00:00Z'),
    endpoint('b', '2026-01-01T00:00:00Z'),
    endpoint('c', '2026-01-02T00:00:00Z'),
  ];
  const leaving = endpoint('d', '2025-01-01T00:00:00Z', '2026-01-03T00:00:00Z');
  const all = [a, b, c, leaving];
  const none = () => false;
  assert.deepEqual(duplicatesOf(a, all, none), { before: ['b'], after: ['c'] });
  assert.deepEqual(duplicatesOf(b, all, none), { before: [], after: ['a', 'c'] });
  assert.deepEqual(duplicatesOf(c, all, none), { before: ['a', 'b'], after: [] });
  assert.deepEqual(
    duplicatesOf(b, all, (candidate) => candidate === c),
    { before: ['c'], after: ['a'] },
  );
});

test('the first of the endpoints with one MAC address holds it, never one that is being deleted', () => {
  const [a, b] = [endpoint('a', '2026-01-02T00:00:00Z'), endpoint('b', '2026-01-01T00:00:00Z')];
  const leaving = endpoint('d', '2025-01-01T00:00:00Z', '2026-01-03T00:00:00Z');
  const none = () => false;
  assert.equal(holderOf([a, b, leaving], none), b);
  assert.equal(
    holderOf([a, b, leaving], (candidate) => candidate === a),
    a,
  );
  assert.equal(holderOf([leaving], none), undefined);
  assert.equal(holderOf([], none), undefined);
});
