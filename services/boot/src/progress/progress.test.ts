import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import {
  awaitedOf,
  type BootStep,
  isResolved,
  mergeSteps,
  overdueCondition,
  stepsOf,
  defaultDeadlines,
} from './progress.ts';

const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
const poweredOnAt = Date.parse(at(0));
const defaults = { poweredOnAt, deadlines: defaultDeadlines };

function bootOf(
  method: string,
  { ignition = false, discovery = false }: { ignition?: boolean; discovery?: boolean } = {},
): ServerBootConfiguration {
  return {
    apiVersion: 'metal.ironcore.dev/v1alpha1',
    kind: 'ServerBootConfiguration',
    metadata: { name: 'b', annotations: discovery ? { 'metal.ironcore.dev/type': 'Internal' } : {} },
    spec: { serverRef: { name: 's' }, ...(ignition ? { ignitionSecretRef: { name: 'i' } } : {}) },
    status: { boot: { method } },
  };
}

const discovery = bootOf('iPXE', { ignition: true, discovery: true });
const scripted = { ...discovery, status: { boot: { method: 'iPXE', script: 'own' } } };
const rows: [string, ServerBootConfiguration, [BootStep['name'], number][], string | undefined][] = [
  ['a machine that was powered on', discovery, [], 'script by minute 15'],
  ['a machine that was seen at DHCP', discovery, [['dhcp', 2]], 'script by minute 17'],
  ['a machine with its script', discovery, [['script', 3]], 'kernel by minute 8'],
  ['a machine with a custom script', scripted, [['dhcp', 2]], 'script by minute 17'],
  ['a machine that loaded a custom script', scripted, [['script', 3]], 'ignition by minute 18'],
  [
    'a machine with its kernel',
    discovery,
    [
      ['script', 3],
      ['kernel', 4],
    ],
    'initrd by minute 14',
  ],
  ['a machine with its initrd', discovery, [['initrd', 5]], 'ignition by minute 20'],
  ['a machine with its ignition', discovery, [['ignition', 6]], 'probe by minute 16'],
  [
    'a machine that is being cleaned',
    {
      ...discovery,
      metadata: {
        name: 'b',
        annotations: { ...discovery.metadata.annotations, 'metal.ironcore.dev/cleanup-attempt': '1' },
      },
    },
    [['ignition', 6]],
    undefined,
  ],
  ['a machine that reported', discovery, [['probe', 7]], undefined],
  ['a claimed machine with its ignition', bootOf('iPXE', { ignition: true }), [['ignition', 6]], undefined],
  ['a machine without ignition with its initrd', bootOf('iPXE'), [['initrd', 5]], undefined],
  ['a machine that takes a UKI', bootOf('UefiHttp'), [], 'uki by minute 20'],
  ['a machine that took the UKI of an image with both', discovery, [['uki', 5]], 'ignition by minute 20'],
  ['a machine that some other service boots', bootOf(''), [], undefined],
];
for (const [title, boot, seen, expected] of rows) {
  test(`the next step of ${title} is ${expected ?? 'none'}`, () => {
    const steps = seen.map(([name, minute]) => ({ name, time: at(minute) }));
    const awaited = awaitedOf(boot, steps, defaults);
    const dueInMs = awaited && awaited.since + awaited.withinMs - poweredOnAt;
    assert.equal(awaited && `${awaited.step} by minute ${(dueInMs ?? 0) / 60_000}`, expected);
  });
}

test('no step is expected without an observed power-on', () => {
  assert.equal(awaitedOf(discovery, [], { ...defaults, poweredOnAt: undefined }), undefined);
});

test('repeated steps are counted, with the first and the last time', () => {
  const once = mergeSteps([], [{ name: 'kernel', time: at(3) }]);
  const merged = mergeSteps(once, [
    { name: 'script', time: at(1) },
    { name: 'kernel', time: at(9), firstTime: at(7), count: 4 },
  ]);
  assert.deepEqual(merged, [
    { name: 'script', time: at(1), firstTime: at(1), count: 1 },
    { name: 'kernel', time: at(9), firstTime: at(3), count: 5 },
  ]);
});

test('conditions of an earlier release count as steps', () => {
  const condition = {
    type: 'IPXEScriptFetched',
    status: 'True' as const,
    reason: 'r',
    message: '',
    lastTransitionTime: at(4),
  };
  const steps = stepsOf({ ...discovery, status: { conditions: [condition] } });
  assert.deepEqual(steps, [{ name: 'script', time: at(4) }]);
});

test('an overdue condition names the missing and the last step, and is resolved by that step or a later one', () => {
  const awaited = awaitedOf(discovery, [{ name: 'script', time: at(3) }], defaults);
  assert.ok(awaited);
  const { reason, message } = overdueCondition(awaited, { now: poweredOnAt });
  assert.equal(reason, 'KernelOverdue');
  assert.match(message, /^kernel did not come within 5 min; it fetched its boot script at 2026-01-01T00:03:00.000Z/);
  assert.equal(isResolved(reason, [{ name: 'script', time: at(9) }]), false);
  assert.equal(isResolved(reason, [{ name: 'ignition', time: at(9) }]), true);
});
