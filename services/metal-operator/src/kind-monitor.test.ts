import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kinds } from '@metal/api/kinds.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { findKindProblems } from '@metal/kube/client/installed-kinds.ts';
import { KubeError, type KubeErrorCode } from '@metal/kube/errors.ts';
import { toCustomResourceDefinition } from '@metal/kube/kinds/crd.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import {
  describeHold,
  describeKindProblems,
  describeReadyNote,
  describeUnready,
  exportKindProblems,
  KindMonitor,
} from './kind-monitor.ts';

const outdated = (missing: readonly string[]) => ({ name: 'servers.x', problem: 'outdated', missing }) as const;

test('problems of CRDs are described by kind of problem, each with its remedy', () => {
  assert.equal(describeKindProblems([]), undefined);
  assert.equal(
    describeKindProblems([
      outdated(['status.a', 'status.b', 'status.c', 'status.d', 'status.e']),
      { name: 'claims.x', problem: 'missing', missing: [] },
      { name: 'bmcs.x', problem: 'missing', missing: [] },
      { name: 'boots.x', problem: 'terminating', missing: [] },
    ]),
    'CRDs claims.x, bmcs.x are not installed: apply deploy/crds of this version; ' +
      'CRDs boots.x are being deleted with all their objects; afterwards apply deploy/crds, or stop the operator; ' +
      'CRDs servers.x (without status.a, status.b, status.c and 2 more) are older than this version, so that writes fail: apply deploy/crds of this version',
  );
});

const crds = ['servers', 'serverclaims', 'bmcs'] as const;

/** A monitor of three kinds, whose clock sleeps until the test goes on; each kind is installed, is being deleted, or fails. */
async function monitorOf(answer: (crd: string) => 'installed' | 'terminating' | KubeError) {
  const state = { answer };
  const lines: string[] = [];
  let wake = Promise.withResolvers<void>();
  const get = async (_kind: unknown, { name }: { name: string }) => {
    const found = state.answer(name.split('.', 1)[0] ?? '');
    if (found instanceof KubeError) throw found;
    const kind = monitored.find(({ plural }) => name.startsWith(`${plural}.`));
    assert.ok(kind);
    const definition = toCustomResourceDefinition(kind);
    return {
      ...definition,
      metadata: { name, uid: name, deletionTimestamp: found === 'terminating' ? 'now' : undefined },
    };
  };
  const whole: string[] = [];
  const getCounted = (kind: unknown, ref: { name: string }) => {
    whole.push(ref.name.split('.', 1)[0] ?? '');
    return get(kind, ref);
  };
  const stop = new AbortController();
  const monitor = new KindMonitor({
    client: { get: getCounted, getMetadata: get } as unknown as KubeClient, // nothing else is called
    kinds: monitored,
    clock: { ...fakeClock(), sleep: () => wake.promise },
    log: pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(line) }),
  });
  const running = monitor.run(stop.signal);
  const next = async (changed = state.answer) => {
    state.answer = changed;
    const { resolve } = wake;
    wake = Promise.withResolvers();
    resolve();
    await new Promise(setImmediate);
  };
  const dispose = async () => {
    stop.abort();
    wake.resolve();
    await running;
  };
  await new Promise(setImmediate);
  return { monitor, next, lines, whole, [Symbol.asyncDispose]: dispose };
}

const monitored = kinds.filter(({ plural }) => crds.some((crd) => crd === plural));
const failure = (code: KubeErrorCode, status?: number, isKindMissing = false) =>
  new KubeError({ code, status, isKindMissing, message: `answered ${status ?? 'nothing'}` });
const absent = failure('NotFound', 404);

const holds: readonly [what: string, answer: (crd: string) => 'installed' | 'terminating' | KubeError, boolean][] = [
  ['all CRDs are installed', () => 'installed', false],
  ['a CRD is missing', (crd) => (crd === 'bmcs' ? absent : 'installed'), true],
  ['only the CRD of claims is being deleted', (crd) => (crd === 'serverclaims' ? 'terminating' : 'installed'), true],
  ['another CRD is being deleted', (crd) => (crd === 'bmcs' ? 'terminating' : 'installed'), false],
  ['all CRDs are being deleted', () => 'terminating', false],
  [
    'the CRD of Servers is gone, that of claims is being deleted',
    (crd) => (crd === 'servers' ? absent : 'terminating'),
    false,
  ],
  ['CRDs may not be read', () => failure('Forbidden', 403), false],
  ['the API server has no CRDs', () => failure('NotFound', 404, true), false],
];
for (const [what, answer, expected] of holds)
  test(`controllers ${expected ? 'wait' : 'start'} while ${what}`, async () => {
    await using env = await monitorOf(answer);
    assert.equal(env.monitor.holdsControllers, expected);
  });

test('the text about claims that go with their CRD names the danger and the way out', () => {
  assert.match(
    describeHold([{ name: 'serverclaims.x', problem: 'terminating', missing: [] }]) ?? '',
    /being deleted.*; claims go with their CRD, so that their machines would be powered off and erased: controllers start when/,
  );
  assert.equal(describeHold([]), undefined);
});

test('a CRD is read whole once; later its metadata shows that it is the same', async () => {
  await using env = await monitorOf(() => 'installed');
  await env.next();
  assert.deepEqual(env.whole.toSorted(), [...crds].toSorted());
  await env.next((crd) => (crd === 'bmcs' ? absent : 'installed'));
  assert.deepEqual(
    env.monitor.problems.map(({ problem }) => problem),
    ['missing'],
  );
});

const failures: readonly [error: KubeError, isAnswer: boolean][] = [
  [failure('Forbidden', 403), true],
  [failure('NotFound', 404, true), true],
  [failure('Unauthorized', 401), true],
  [failure('ServerError', 500), true],
  [failure('TooManyRequests', 429), false],
  [failure('ServerError', 503), false],
  [failure('Unreachable'), false],
];
for (const [error, isAnswer] of failures)
  test(`a failed comparison (${error.code} ${error.status ?? ''}) is logged once, and is ${isAnswer ? 'an' : 'no'} answer`, async () => {
    await using env = await monitorOf(() => error);
    let isChecked = false;
    void env.monitor.nextCheck.then(() => (isChecked = true));
    await env.next();
    assert.equal(env.lines.length, 1);
    assert.match(env.lines[0] ?? '', /"level":40.*CRDs are not compared/);
    assert.equal(isChecked, isAnswer);
  });

test('problems that can no longer be read are forgotten, except while the API server fails', async () => {
  await using env = await monitorOf(() => absent);
  await env.next(() => failure('ServerError', 500));
  assert.equal(env.monitor.problems.length, crds.length);
  await env.next(() => failure('Forbidden', 403));
  assert.deepEqual(env.monitor.problems, []);
});

test('each problem is a sample', async () => {
  const registry = new Registry();
  exportKindProblems(registry, { problems: [outdated(['status.a'])] });
  assert.match(await registry.metrics(), /^metal_crd_problems\{crd="servers\.x",problem="outdated"\} 1$/m);
});

test('after the start only missing CRDs make a process unready; the others are a note', () => {
  const old = outdated(['status.a']);
  assert.match(describeUnready([old], false) ?? '', /servers\.x .*are older/);
  assert.equal(describeUnready([old], true), undefined);
  assert.match(describeReadyNote([old]) ?? '', /servers\.x .*are older/);
  const missing = { name: 'bmcs.x', problem: 'missing', missing: [] } as const;
  assert.match(
    describeUnready([old, missing], true) ?? '',
    /^CRDs bmcs\.x are not installed: apply deploy\/crds of this version$/,
  );
  assert.equal(describeReadyNote([missing]), undefined);
});

test('a CRD is outdated without a field of our status, not without one of our spec', async () => {
  for (const [field, expected] of [
    ['powerState', [['status.powerState']]],
    ['bmcRef', []],
  ] as const) {
    const [server] = kinds.filter(({ kind }) => kind === 'Server');
    assert.ok(server);
    const text = JSON.stringify(toCustomResourceDefinition(server), (key, value: unknown) =>
      key === field ? undefined : value,
    );
    const client = { get: async () => JSON.parse(text) } as unknown as KubeClient; // nothing else is called
    const problems = await findKindProblems(client, [server], { signal: new AbortController().signal });
    assert.deepEqual(
      problems.map(({ missing }) => missing),
      expected,
    );
  }
});
