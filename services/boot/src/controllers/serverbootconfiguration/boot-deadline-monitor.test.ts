import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { createKubeClient } from '@metal/kube/client/client.ts';
import { type Clock, createClock } from '@metal/kube/runtime/clock.ts';
import type { EventRecorder } from '@metal/kube/client/events.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { pino } from 'pino';
import { BootDeadlineMonitor } from './boot-deadline-monitor.ts';
import { BootProgressRecorder } from '../../progress/boot-progress-recorder.ts';
import { defaultDeadlines } from '../../progress/progress.ts';
import { UnknownMachines } from '../../authorization/unknown-machines.ts';

const minutes = (count: number): number => count * 60_000;

/** A clock that tests advance. */
function startFakeClock() {
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

async function startMonitor() {
  const { clock, pass } = startFakeClock();
  const log = pino({ level: 'silent' });
  const [servers, bootConfigurations] = [new Store<Server>(), new Store<ServerBootConfiguration>()];
  const stack = new AsyncDisposableStack();
  const client = stack.use(createKubeClient({ kubeconfigPath: undefined }));
  const progress = stack.use(new BootProgressRecorder({ client, bootConfigurations, clock, log }));
  const reasons: string[] = [];
  const events: EventRecorder = { record: (_about, { reason }) => void reasons.push(reason) };
  const watched = { servers, bootConfigurations, progress, unknownMachines: new UnknownMachines() };
  stack.use(new BootDeadlineMonitor({ ...watched, deadlines: defaultDeadlines, events, clock, log }));
  let version = 0;
  const put = <T extends KubeObject>(
    store: Store<T>,
    identity: { uid: string; namespace?: string },
    fields: object,
  ) => {
    version += 1;
    const metadata = { name: 'one', ...identity, resourceVersion: String(version) };
    // Only the fields that are read.
    store.upsertIfNewer({ metadata, ...fields } as unknown as T);
  };
  return {
    pass,
    reasons,
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

test('a machine that requests nothing after its power-on is reported as overdue', async () => {
  await using monitor = await startMonitor();
  monitor.power('Off');
  monitor.prepare('first');
  monitor.power('On');
  monitor.pass(minutes(14));
  assert.deepEqual(monitor.reasons, []);
  monitor.pass(minutes(2));
  assert.deepEqual(monitor.reasons, ['ScriptOverdue', 'ScriptOverdue'], 'on the boot configuration and on the server');
});

test('a boot configuration that is created after the power-on has no deadline from it', async () => {
  await using monitor = await startMonitor();
  monitor.power('Off');
  monitor.power('On');
  monitor.pass(minutes(60));
  monitor.prepare('first');
  monitor.pass(minutes(16));
  assert.deepEqual(monitor.reasons, []);
  monitor.power('Off');
  monitor.power('On');
  monitor.pass(minutes(16));
  assert.deepEqual(monitor.reasons, ['ScriptOverdue', 'ScriptOverdue'], 'the next power-on is for it');
});
