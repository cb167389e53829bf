import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { uncleanServerAnnotation } from '@metal/api/wire/contract.ts';
import { uncleanMark } from './unclean-mark.ts';

const since = '2026-01-01T00:00:00.000Z';
const later = '2026-01-02T00:00:00.000Z';
const claimed = { serverClaimRef: { namespace: 'team', name: 'one' } };

interface Scene {
  readonly marked?: boolean;
  readonly spec?: Partial<Server['spec']>;
  readonly status?: Server['status'];
  readonly needed?: boolean;
  readonly clearance?: 'Cleaned' | 'Waived';
}

/** The value that a patch of the spec writes into the annotation. */
function written({ marked = false, spec, status, needed = false, clearance }: Scene): string | null | undefined {
  const server: Server = {
    apiVersion: 'metal.ironcore.dev/v1alpha1',
    kind: 'Server',
    metadata: { name: 'one', ...(marked ? { annotations: { [uncleanServerAnnotation]: since } } : {}) },
    spec: { systemUUID: 'a', ...spec },
    ...(status === undefined ? {} : { status }),
  };
  return uncleanMark(server, { needed, clearance }, Date.parse(later))[uncleanServerAnnotation];
}

const lines: [title: string, scene: Scene, value: string | null | undefined][] = [
  ['a server that no claim has used', {}, undefined],
  ['a claimed server', { spec: claimed }, later],
  [
    'a claimed server, with the time of the status',
    { spec: claimed, status: { cleanup: { neededSince: since } } },
    since,
  ],
  ['a released server of a version without the annotation', { needed: true }, later],
  ['a marked server', { marked: true, spec: claimed, needed: true }, undefined],
  ['a cleaned server', { marked: true, needed: true, clearance: 'Cleaned' }, null],
  ['a waived server', { marked: true, needed: true, clearance: 'Waived' }, null],
  [
    'a cleaned server that was given to a claim again',
    { marked: true, spec: claimed, clearance: 'Cleaned' },
    undefined,
  ],
  ['an available server', { marked: true, status: { state: 'Available' } }, null],
  ['a server whose status was lost', { marked: true, needed: true }, undefined],
];
for (const [title, scene, value] of lines)
  test(`the mark of ${title}: ${value === null ? 'removed' : (value ?? 'unchanged')}`, () =>
    assert.equal(written(scene), value));
