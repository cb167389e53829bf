import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  adoptedForHostAnnotation as adopted,
  detachedServerAnnotation as detached,
  hostOfServerAnnotation as hostOf,
  hostTaint,
} from '@metal/api/metal3/metal3-contract.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { allowInterruptionAnnotation as allowed, operationAnnotation as operation } from '@metal/api/wire/contract.ts';
import { hostIn } from '../../test/baremetalhost/example-host.ts';
import { markOf } from './host-objects.ts';
import { markOn } from './server-mark.ts';

const host = hostIn('registering');
const own = { [hostOf]: markOf(host) };
const ignore = { [operation]: 'ignore' };
const taint = { key: hostTaint, effect: 'NoBind' } as const;

const server = (annotations: Record<string, string>, taints: Server['spec']['taints'] = [taint]): Server => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name: 's', annotations },
  spec: { systemUUID: 'u', reclaimPolicy: 'Recycle', unclaimable: false, taints },
});
type Mark = Partial<Parameters<typeof markOn>[1]>;
const mark = (found: Server, { isMarked = true, isHeld = false, use = 'free' }: Mark = {}) =>
  markOn(found, { host, isMarked, isHeld, use });
const first = { [hostOf]: markOf(host), [allowed]: 'true' };
const ended = { [operation]: null, [detached]: null };

test('a new Server gets mark and taint beside the taints that it has', () => {
  const other = { key: 'rack', effect: 'NoBind' } as const;
  assert.deepEqual(mark(server({}, [other]), { isMarked: false }), {
    metadata: { annotations: first },
    spec: { taints: [other, taint] },
  });
});

test('a Server that is held for hosts is released to its first one only', () => {
  const released = { metadata: { annotations: { ...first, ...ended } } };
  assert.deepEqual(mark(server(ignore), { isMarked: false, isHeld: true }), released);
  assert.equal(mark(server({ ...own, ...ignore }), { isHeld: true }), 'ignored', 'a person ignores it since');
});

test('operation=ignore ends only with a detachment', () => {
  const reattached = { metadata: { annotations: { ...own, ...ended } } };
  assert.deepEqual(mark(server({ ...own, ...ignore, [detached]: 'true' })), reattached);
  assert.equal(mark(server({ ...own, ...ignore })), 'ignored');
  assert.equal(mark(server(ignore), { isMarked: false }), 'ignored');
});

test('a marked Server is written again only if its taint is gone', () => {
  assert.equal(mark(server(own)), undefined);
  assert.deepEqual(mark(server(own, [])), { metadata: { annotations: own }, spec: { taints: [taint] } });
});

test('the machine of a host in use is to be adopted, and nobody permits to interrupt it', () => {
  const requested = { [hostOf]: markOf(host), [operation]: 'adopt', [adopted]: 'true', [allowed]: null };
  assert.deepEqual(mark(server({}), { isMarked: false, use: 'inUse' }), { metadata: { annotations: requested } });
  assert.deepEqual(mark(server(ignore), { isMarked: false, isHeld: true, use: 'inUse' }), {
    metadata: { annotations: { ...requested, [detached]: null } },
  });
  assert.equal(mark(server(ignore), { isMarked: false, use: 'inUse' }), 'ignored', 'a person ignores it');
});

test('an adoption that a detachment interrupted goes on afterwards', () => {
  const interrupted = server({ ...own, ...ignore, [detached]: 'adopt', [adopted]: 'true' });
  const resumed = { metadata: { annotations: { ...own, ...ended, [operation]: 'adopt' } } };
  assert.deepEqual(mark(interrupted), resumed);
  const serverClaimRef = { namespace: 'team', name: 'c', uid: 'claim-1' };
  const bound = { ...interrupted, spec: { ...interrupted.spec, serverClaimRef } };
  assert.deepEqual(mark(bound), resumed, 'also if the claim was bound, and the request not accepted yet');
  const over = server({ ...own, ...ignore, [detached]: 'true', [adopted]: 'true' });
  assert.deepEqual(mark(over), { metadata: { annotations: { ...own, ...ended } } }, 'not one whose claim is gone');
});

test('a host without inspection does not permit to interrupt its machine', () => {
  assert.deepEqual(mark(server({}), { isMarked: false, use: 'unknown' }), { metadata: { annotations: own } });
});
