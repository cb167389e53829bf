import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { discardEvents } from '@metal/kube/client/events.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { pino } from 'pino';
import { BootConfigs } from './boot-configs.ts';
import { Butane } from '../../ignition/butane.ts';
import { BootImages } from '../../images/images.ts';
import { BootConfigurationController } from './boot-configuration-controller.ts';

const stepMs = 100;
/** As long as a file is waited for: see artefact.ts. */
const lostAfterMs = 10_000;
const seconds = (ms: number): number => Math.round(ms / 1_000);

type Status = ServerBootConfiguration['status'];

const wanted: ServerBootConfiguration = {
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'ServerBootConfiguration',
  metadata: { name: 'boot', namespace: 'default', uid: 'uid-boot', generation: 1, resourceVersion: '1' },
  spec: { serverRef: { name: 'server' }, image: 'http://lost.test/os/' },
};

/** One boot configuration at an API server, and a host of images whose packets are lost. */
function startFixture() {
  const clock = fakeClock();
  const bootConfigurations = new Store<ServerBootConfiguration>();
  const servers = new Store<Server>();
  const ipxeBootConfigs = new Store<IPXEBootConfig>();
  let stored = wanted;
  let isWatched = true;
  bootConfigurations.upsertIfNewer(stored);
  /** A write of any client. Delivered to the cache, unless the watch is late. */
  const write = (change: Pick<Partial<ServerBootConfiguration>, 'spec' | 'status'>): void => {
    const { generation = 1, resourceVersion } = stored.metadata;
    const versions = {
      generation: generation + (change.spec === undefined ? 0 : 1),
      resourceVersion: String(Number(resourceVersion) + 1),
    };
    stored = { ...stored, ...change, metadata: { ...stored.metadata, ...versions } };
    if (isWatched) bootConfigurations.upsertIfNewer(stored);
  };
  const writes: { at: number; state: string | undefined; message: string | undefined }[] = [];
  const apply = async (_kind: unknown, { metadata, status }: ServerBootConfiguration): Promise<void> => {
    if (metadata.resourceVersion !== stored.metadata.resourceVersion)
      throw new KubeError({ code: 'Conflict', message: 'the object was modified' });
    writes.push({ at: seconds(clock.now()), state: status?.state, message: status?.conditions?.[0]?.message });
    write({ status });
  };
  const client = { apply, find: async () => stored } as unknown as KubeClient; // only these methods are called
  const fetches: { at: number; url: string }[] = [];
  const fetch: typeof globalThis.fetch = (url, init) => {
    fetches.push({ at: clock.now(), url: url instanceof URL ? url.href : '' });
    return new Promise((_resolve, reject) => {
      const fail = (): void => reject(new Error('no answer'));
      clock.setTimeout(lostAfterMs, fail);
      init?.signal?.addEventListener('abort', fail, { once: true });
    });
  };
  const allowedOrigins = ['http://lost.test', 'http://elsewhere.test'];
  const images = new BootImages({ mapFile: undefined, byUrl: { allowedOrigins, fetch }, clock });
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
  const events = discardEvents;
  const publicUrl = () => 'http://boot.test';
  const controller = new BootConfigurationController({
    client,
    servers,
    bootConfigurations,
    images,
    diskImages: undefined,
    butane: new Butane({ program: 'butane' }),
    ipxeBootConfigs,
    bootConfigs: new BootConfigs({ client, ipxeBootConfigs, publishes: false, publicUrl, events, log }),
    events,
    clock,
    log,
    random: () => 1,
  });
  const pass = async (ms: number): Promise<void> => {
    for (const until = clock.now() + ms; clock.now() < until; clock.advance(stepMs)) await setImmediate();
    await setImmediate();
  };
  return {
    clock,
    fetches,
    lines,
    writes,
    pass,
    write,
    status: (): Status => stored.status,
    /** From now on the watch is late. */
    stopWatch: () => (isWatched = false),
    states: () => writes.map(({ at, state }) => [at, state]),
    [Symbol.asyncDispose]: () => controller[Symbol.asyncDispose](),
  };
}

test('a slow failing image is validated with exponential backoff, and keeps its reason in between', async () => {
  await using fixture = startFixture();
  await fixture.pass(1_200_000);
  assert.deepEqual(fixture.states(), [
    [3, 'Pending'],
    [10, 'Error'],
  ]);
  assert.match(fixture.writes[1]?.message ?? '', /^ImageUnavailable: a file of the image cannot be fetched/);
  assert.match(fixture.lines[0] ?? '', /"detail":"http:\/\/lost\.test\/os\/vmlinuz cannot be fetched: no answer"/);
  const gaps = fixture.fetches.slice(1).map(({ at }, index) => at - (fixture.fetches[index]?.at ?? 0));
  assert.ok(gaps.length > 5, 'it is validated again');
  for (const [index, gap] of gaps.slice(1).entries())
    assert.ok(gap >= (gaps[index] ?? 0), `pauses grow: ${gaps.join(', ')}`);
  assert.ok((gaps.at(-1) ?? 0) > 300_000, `five minutes at last: ${gaps.join(', ')}`);
});

test('a changed image, or the state Pending of another writer, is validated at once', async () => {
  await using fixture = startFixture();
  await fixture.pass(900_000);
  const before = fixture.fetches.length;
  fixture.write({ spec: { ...wanted.spec, image: 'http://elsewhere.test/os/' } });
  await fixture.pass(15_000);
  const [first, second] = fixture.fetches.slice(before);
  assert.deepEqual(first, { at: 900_000, url: 'http://elsewhere.test/os/vmlinuz' });
  assert.ok((second?.at ?? Number.POSITIVE_INFINITY) < 912_000, 'its backoff starts again');
  assert.deepEqual(fixture.states().slice(2), [
    [903, 'Pending'],
    [910, 'Error'],
  ]);

  await fixture.pass(885_000);
  const fetches = fixture.fetches.length;
  fixture.write({ status: { ...fixture.status(), state: 'Pending' } });
  await fixture.pass(1_000);
  assert.deepEqual(
    fixture.fetches.slice(fetches).map(({ at }) => at),
    [1_800_000],
  );
});

const conditionOf = (status: 'False' | 'Unknown', reason: string) => ({
  type: 'ImageValidation',
  status,
  reason,
  message: 'of another replica',
  lastTransitionTime: new Date(0).toISOString(),
  observedGeneration: 1,
});

test('the result of another replica is not overwritten with Pending', async () => {
  await using fixture = startFixture();
  await fixture.pass(1_000);
  fixture.stopWatch();
  fixture.write({ status: { state: 'Error', conditions: [conditionOf('False', 'ValidationFailed')] } });
  await fixture.pass(6_000);
  assert.deepEqual(fixture.states(), []);
  assert.equal(fixture.status()?.state, 'Error');
});

test('the Pending of another replica causes no validation, and the next failure restores the reason', async () => {
  await using fixture = startFixture();
  await fixture.pass(900_000);
  const fetches = fixture.fetches.length;
  fixture.write({ status: { state: 'Pending', conditions: [conditionOf('Unknown', 'ImagePulling')] } });
  await fixture.pass(1_000);
  assert.equal(fixture.fetches.length, fetches);
  await fixture.pass(320_000);
  assert.equal(fixture.status()?.state, 'Error');
});
