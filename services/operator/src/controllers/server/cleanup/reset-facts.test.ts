import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { SystemState } from '@metal/redfish/resources/systems.ts';
import { readOperatorConfig } from '../../../options.ts';
import { type BiosReset, type BootOrderReset, ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { type BiosFacts, biosFacts, type BootOrderFacts, bootOrderResetFacts } from './reset-facts.ts';

const config = readOperatorConfig({ 'power-polling-interval': '5s' });
const apiVersion = 'metal.ironcore.dev/v1alpha1';
const now = 1_000_000;
const requestedTime = '2026-01-01T00:00:00.000Z';
const order = { requestedTime, task: undefined };
const policy = { disks: 'None', bios: 'Reset', bootOrder: 'Reset' } as const;

const server = (spec: Partial<Server['spec']> = {}, bootOrder: string[] = []): Server => ({
  apiVersion,
  kind: 'Server',
  metadata: { name: 'one' },
  spec: { systemUUID: 'one', ...spec },
  status: { bootOrder, cleanup: { startedTime: 'T', attempt: 2 } },
});

const bootWith = (text: string | undefined): ServerBootConfiguration => ({
  apiVersion,
  kind: 'ServerBootConfiguration',
  metadata: {
    name: 'one',
    annotations: text === undefined ? {} : { 'metal.ironcore.dev/cleanup-bios-reset': text },
  },
  spec: { serverRef: { name: 'one' } },
});

/** Of the attempt under way, unless it says otherwise. */
type ForAttempt<T> = T extends unknown ? Omit<T, 'of'> & { readonly of?: string } : never;

function bios(
  reset: ForAttempt<BiosReset> | undefined,
  boot?: ServerBootConfiguration,
  biosPolicy: 'None' | 'Reset' = 'Reset',
): BiosFacts {
  const memory = new ObservedSystem();
  memory.biosReset = reset && { of: 'T 2', ...reset };
  return biosFacts({
    server: server(),
    policy: { ...policy, bios: biosPolicy },
    boot,
    memory,
    context: { config },
    now,
  });
}

const seen = (kind: 'Pending' | 'Confirmed' | 'Accepted') => ({ at: now - 1_000, since: now - 9_000, state: { kind } });

test('a BIOS reset is none unless the policy requests it', () => {
  assert.deepEqual(bios({ order }, undefined, 'None'), { kind: 'none' });
});

test('a BIOS reset is due until the BMC accepts it, and failed if the BMC rejects it', () => {
  assert.deepEqual(bios(undefined), { kind: 'due' });
  assert.equal(bios({ order }).kind, 'requested');
  assert.deepEqual(bios({ rejection: 'no' }), { kind: 'failed', message: 'no' });
});

test('the boot configuration of the attempt records the accepted BIOS reset for every process', () => {
  const observed = bios(undefined, bootWith(`${requestedTime} /tasks/7`));
  assert.deepEqual(observed, { kind: 'requested', requestedTime, task: '/tasks/7', nextPollInMs: 0, forMs: 0 });
  assert.deepEqual(bios(undefined, bootWith(requestedTime)), { ...observed, task: undefined });
});

test('a request of an earlier attempt does not count', () => {
  const of = 'T 1';
  assert.deepEqual(bios({ of, rejection: 'no' }), { kind: 'due' });
  assert.equal(bios({ of, seen: seen('Confirmed') }, bootWith(requestedTime)).kind, 'requested');
  assert.equal(bootOrder({ reset: { of, ...sent, isPending: true } }).kind, 'due');
});

test('a boot that was prepared before the policy requested a reset ends without one', () => {
  assert.deepEqual(bios(undefined, bootWith(undefined)), { kind: 'none' });
});

test('a pending BIOS reset is polled at the interval, and its timeout counts from the first observation', () => {
  const observed = bios({ seen: seen('Pending') }, bootWith(requestedTime));
  assert.deepEqual(observed, { kind: 'requested', ...order, nextPollInMs: 4_000, forMs: 9_000 });
});

test('a BIOS reset is done when the BMC confirms it or has no report of it', () => {
  for (const kind of ['Confirmed', 'Accepted'] as const)
    assert.deepEqual(bios({ seen: seen(kind) }, bootWith(requestedTime)), { kind: 'done', ...order, result: kind });
  const failed = { at: now, since: now, state: { kind: 'Failed', message: 'the task is Exception' } } as const;
  assert.deepEqual(bios({ seen: failed }, bootWith(requestedTime)), {
    kind: 'failed',
    message: 'the task is Exception',
  });
});

interface Order {
  readonly on?: Server;
  readonly seen?: string[];
  readonly reset?: ForAttempt<BootOrderReset>;
}

function bootOrder({ on = server({}, ['a', 'b']), seen: bootOrderSeen = [], reset }: Order): BootOrderFacts {
  const memory = new ObservedSystem();
  memory.bootOrderReset = reset && { of: 'T 2', ...reset };
  // Only the boot order of the observation is used.
  memory.state = { value: { bootOrder: bootOrderSeen } as unknown as SystemState, at: now };
  return bootOrderResetFacts({ server: on, policy, boot: undefined, memory, context: { config }, now });
}

const sent = { at: now - 1_000, since: now - 9_000, isPending: false };
const desired = [
  { name: 'second', priority: 2, device: 'a' },
  { name: 'first', priority: 1, device: 'b' },
];
const devices = ['a', 'b'];

const orders: [title: string, order: Order, facts: Partial<BootOrderFacts>][] = [
  ['as recorded by the first discovery', { seen: ['a', 'b'] }, { kind: 'done', devices, result: 'AsWanted' }],
  ['with new devices at its end', { seen: ['a', 'b', 'c'] }, { kind: 'done', devices, result: 'AsWanted' }],
  ['of a claim', { seen: ['b', 'a'] }, { kind: 'due', devices }],
  ['as in spec.bootOrder', { on: server({ bootOrder: desired }, ['a']), seen: ['b', 'a'] }, { kind: 'done' }],
  ['other than spec.bootOrder', { on: server({ bootOrder: desired }, ['a']), seen: ['a'] }, { kind: 'due' }],
  ['that is unknown', { on: server() }, { kind: 'failed' }],
  ['that was sent', { reset: sent }, { kind: 'requested', devices, nextPollInMs: 4_000, forMs: 9_000 }],
  ['that was sent and is observed', { reset: sent, seen: devices }, { kind: 'done', result: 'AsWanted' }],
  ['that waits for the next start', { reset: { ...sent, isPending: true } }, { kind: 'done', result: 'AtNextStart' }],
  ['that is rejected', { reset: { rejection: 'no' }, seen: ['b'] }, { kind: 'failed', message: 'no' }],
];
for (const [title, given, facts] of orders) {
  test(`a boot order ${title} is ${facts.kind}`, () => assert.partialDeepStrictEqual(bootOrder(given), facts));
}
