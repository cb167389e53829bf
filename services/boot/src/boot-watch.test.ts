import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { createKubeClient } from '@metal/kube/client.ts';
import { type Clock, createClock } from '@metal/kube/clock.ts';
import type { EventRecorder } from '@metal/kube/events.ts';
import type { KubeObject } from '@metal/kube/kind.ts';
import { Store } from '@metal/kube/store.ts';
import { pino } from 'pino';
import { BootWatch } from './boot-watch.ts';
import { EvidenceLog } from './evidence-log.ts';
import { usualDeadlines } from './progress.ts';
import { Strangers } from './strangers.ts';

const minutes = (count: number): number => count * 60_000;

/** Time that passes when it is told to. */
function clockByHand() {
  let now = Date.parse('2026-01-01T00:00:00Z');
  let timers: { at: number; callback: () => void }[] = [];
  const clock: Clock = {
    ...createClock(),
    now: () => now,
    setTimeout: (delayMs, callback) => {
      const timer = { at: now + delayMs, callback };
      timers.push(timer);
      return { [Symbol.dispose]: () => void (timers = timers.filter((one) => one !== timer)) };
    },
  };
  const pass = (ms: number): void => {
    now += ms;
    const due = timers.filter(({ at }) => at <= now);
    timers = timers.filter(({ at }) => at > now);
    for (const { callback } of due) callback();
  };
  return { clock, pass };
}

async function openWatch() {
  const { clock, pass } = clockByHand();
  const log = pino({ level: 'silent' });
  const [servers, bootConfigurations] = [new Store<Server>(), new Store<ServerBootConfiguration>()];
  const stack = new AsyncDisposableStack();
  const client = stack.use(createKubeClient({ kubeconfigPath: undefined }));
  const evidence = stack.use(new EvidenceLog({ client, bootConfigurations, clock, log }));
  const told: string[] = [];
  const events: EventRecorder = { record: (_about, { reason }) => void told.push(reason) };
  const watched = { servers, bootConfigurations, evidence, strangers: new Strangers() };
  stack.use(new BootWatch({ ...watched, deadlines: usualDeadlines, events, clock, log }));
  let version = 0;
  const put = <T extends KubeObject>(
    store: Store<T>,
    identity: { uid: string; namespace?: string },
    fields: object,
  ) => {
    version += 1;
    const metadata = { name: 'one', ...identity, resourceVersion: String(version) };
    // Only the fields that are looked at.
    store.absorb({ metadata, ...fields } as unknown as T);
  };
  return {
    pass,
    told,
    power: (powerState: string) =>
      put(
        servers,
        { uid: 'server' },
        {
          spec: { bootConfigurationRef: { name: 'one', namespace: 'default' } },
          status: { state: 'Discovery', powerState },
        },
      ),
    prepare: (uid: string) =>
      put(
        bootConfigurations,
        { uid, namespace: 'default' },
        {
          spec: { serverRef: { name: 'one' } },
          status: { state: 'Ready', boot: { method: 'iPXE' } },
        },
      ),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

test('a machine that is switched on for a boot and stays silent is told of', async () => {
  await using watch = await openWatch();
  watch.power('Off');
  watch.prepare('first');
  watch.power('On');
  watch.pass(minutes(14));
  assert.deepEqual(watch.told, []);
  watch.pass(minutes(2));
  assert.deepEqual(watch.told, ['ScriptOverdue', 'ScriptOverdue'], 'on the boot configuration and on the server');
});

test('a boot that was made after the power-on is not late by that', async () => {
  await using watch = await openWatch();
  watch.power('Off');
  watch.power('On');
  watch.pass(minutes(60));
  watch.prepare('first');
  watch.pass(minutes(16));
  assert.deepEqual(watch.told, []);
  watch.power('Off');
  watch.power('On');
  watch.pass(minutes(16));
  assert.deepEqual(watch.told, ['ScriptOverdue', 'ScriptOverdue'], 'the next power-on is for it');
});
