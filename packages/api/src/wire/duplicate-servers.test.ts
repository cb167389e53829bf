import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '../v1alpha1/server.ts';
import { managedInsteadOf, managedServer } from './duplicate-servers.ts';

const claimed = { serverClaimRef: { namespace: 'team', name: 'claim' } };
const server = (
  name: string,
  { day = 1, spec = {}, status }: { day?: number; spec?: Partial<Server['spec']>; status?: Server['status'] } = {},
): Server => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name, creationTimestamp: `2026-01-0${day}T00:00:00Z` },
  spec: { systemUUID: 'u', ...spec },
  ...(status === undefined ? {} : { status }),
});

const rows: [title: string, one: Server, other: Server, managed: string][] = [
  ['the older one is managed', server('b', { day: 1 }), server('a', { day: 2 }), 'b'],
  ['the first by name of two of the same age', server('b'), server('a'), 'a'],
  ['a claimed one before an older one', server('old'), server('young', { day: 2, spec: claimed }), 'young'],
  [
    'the older one of two with a claim',
    server('old', { spec: claimed }),
    server('a', { day: 2, spec: claimed }),
    'old',
  ],
  [
    'one in cleanup before an older available one',
    server('old', { status: { state: 'Available' } }),
    server('young', { day: 2, status: { state: 'Cleanup' } }),
    'young',
  ],
  [
    'one with a failed cleanup before an older available one',
    server('old', { status: { state: 'Available' } }),
    server('young', { day: 2, status: { state: 'Error', cleanup: { neededSince: '2026-01-03T00:00:00Z' } } }),
    'young',
  ],
  [
    'a claimed one before one in cleanup',
    server('old', { status: { state: 'Cleanup' } }),
    server('young', { day: 2, spec: claimed }),
    'young',
  ],
];

for (const [title, one, other, managed] of rows) {
  test(`duplicate Servers of one system UUID: ${title}`, () => {
    assert.equal(managedServer([one, other])?.metadata.name, managed);
    assert.equal(managedServer([other, one])?.metadata.name, managed, 'in any order');
  });
}

test('a single server is managed, and an empty list has none', () => {
  const only = server('only');
  assert.equal(managedServer([only]), only);
  assert.equal(managedServer([]), undefined);
});

test('the given version of a server takes precedence over the cached one', () => {
  const cached = [server('old'), server('young', { day: 2 })];
  assert.equal(managedInsteadOf(server('young', { day: 2 }), cached)?.metadata.name, 'old');
  assert.equal(managedInsteadOf(server('young', { day: 2, spec: claimed }), cached), undefined);
});
