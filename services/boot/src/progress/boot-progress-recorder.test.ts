import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { pino } from 'pino';
import { BootProgressRecorder } from './boot-progress-recorder.ts';

const bootOf = (index: number): ServerBootConfiguration => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'ServerBootConfiguration',
  metadata: { name: `boot-${index}`, namespace: 'default', uid: `uid-${index}`, resourceVersion: '1' },
  spec: { serverRef: { name: `server-${index}` } },
});

test('progress of many machines is written twelve at a time, with the steps that arrive in the meantime', async () => {
  const bootConfigurations = new Store<ServerBootConfiguration>();
  const boots = Array.from({ length: 30 }, (_, index) => bootOf(index));
  for (const boot of boots) bootConfigurations.upsertIfNewer(boot);
  const written: { name: string; steps: string[]; acknowledge: () => void }[] = [];
  type Written = { metadata: { name: string }; status: { boot: { steps: { name: string }[] } } };
  const apply = (_kind: unknown, { metadata, status }: Written) =>
    new Promise<void>((resolve) => {
      const steps = status.boot.steps.map(({ name }) => name);
      written.push({ name: metadata.name, steps, acknowledge: resolve });
    });
  await using recorder = new BootProgressRecorder({
    client: { apply: apply as unknown as KubeClient['apply'], find: () => Promise.resolve(undefined) },
    bootConfigurations,
    clock: systemClock,
    log: pino({ level: 'silent' }),
  });
  const recorded = boots.map((boot) => recorder.record(boot, 'ignition'));
  await setImmediate();
  assert.equal(written.length, 12);
  const last = boots.at(-1) ?? bootOf(0);
  recorded.push(recorder.record(last, 'booted'));
  for (let index = 0; index < boots.length; index += 1) {
    written[index]?.acknowledge();
    await setImmediate();
    assert.ok(written.length - index - 1 <= 12);
  }
  await Promise.all(recorded);
  assert.equal(written.length, 30, 'one write per boot');
  assert.deepEqual(written.find(({ name }) => name === last.metadata.name)?.steps, ['ignition', 'booted']);
});

test('disposing waits for failing writes only up to the grace period', async () => {
  const bootConfigurations = new Store<ServerBootConfiguration>();
  const boots = Array.from({ length: 30 }, (_, index) => bootOf(index));
  for (const boot of boots) bootConfigurations.upsertIfNewer(boot);
  const clock = fakeClock();
  const recorder = new BootProgressRecorder({
    client: { apply: () => new Promise(() => undefined), find: () => Promise.resolve(undefined) },
    bootConfigurations,
    clock,
    log: pino({ level: 'silent' }),
  });
  for (const boot of boots) void recorder.record(boot, 'ignition');
  await setImmediate();
  const ended = recorder[Symbol.asyncDispose]();
  clock.advance(5_000);
  await ended;
});
