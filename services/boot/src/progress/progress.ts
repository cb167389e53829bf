import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { type AwaitedBootStep, awaitedBootSteps } from '@metal/api/wire/boot-steps.ts';
import { bootOverdue } from '@metal/api/wire/contract.ts';
import { isDiscoveryBoot } from '@metal/api/wire/internal-boot.ts';
import { formatDuration, minutes } from '@metal/kube/runtime/durations.ts';
import { stepConditions, isStep, type Step, stepRanks } from './boot-steps.ts';
import type { BootServiceReason } from '../reasons.ts';

type Recorded = NonNullable<NonNullable<NonNullable<ServerBootConfiguration['status']>['boot']>['steps']>[number];
export type BootStep = Omit<Recorded, 'name'> & { readonly name: Step };

/** The next step of a boot, and its deadline. */
export interface Awaited {
  readonly step: AwaitedBootStep;
  /** The last step, and its time. */
  readonly after: Step | 'power-on';
  readonly since: number;
  readonly withinMs: number;
}

/**
 * The deadline of each step, from the step before. Firmware of large servers tests memory for ten minutes; an initrd may have
 * half a gigabyte and a slow link.
 */
export const defaultDeadlines: Deadlines = {
  script: minutes(15),
  kernel: minutes(5),
  initrd: minutes(10),
  uki: minutes(20),
  ignition: minutes(15),
  probe: minutes(10),
};
/** In milliseconds. */
export type Deadlines = Readonly<Record<AwaitedBootStep, number>>;

const reasons: Readonly<Record<AwaitedBootStep, BootServiceReason>> = {
  script: 'ScriptOverdue',
  kernel: 'KernelOverdue',
  initrd: 'InitrdOverdue',
  uki: 'UkiOverdue',
  ignition: 'IgnitionOverdue',
  probe: 'ProbeOverdue',
};

export const overdueType = bootOverdue;

/** The recorded steps. Earlier releases of the boot service recorded only conditions. */
export function stepsOf({ status }: ServerBootConfiguration): BootStep[] {
  const recorded = (status?.boot?.steps ?? []).flatMap(({ name, ...step }) =>
    isStep(name) ? [{ name, ...step }] : [],
  );
  const conditions = Object.entries(stepConditions).flatMap(([name, { type }]): BootStep[] => {
    const condition = status?.conditions?.find((each) => each.type === type && each.status === 'True');
    const isKnown = recorded.some((step) => step.name === name);
    return condition === undefined || isKnown || !isStep(name) ? [] : [{ name, time: condition.lastTransitionTime }];
  });
  return [...recorded, ...conditions];
}

/** Merges new steps into the recorded ones: first and last time, and count. */
export function mergeSteps(recorded: readonly BootStep[], seen: readonly BootStep[]): BootStep[] {
  const merged = new Map<Step, BootStep>();
  for (const step of [...recorded, ...seen]) {
    const before = merged.get(step.name);
    const times = [before?.firstTime ?? before?.time, before?.time, step.firstTime ?? step.time, step.time]
      .flatMap((time) => time ?? [])
      .toSorted();
    merged.set(step.name, {
      ...before,
      ...step,
      firstTime: times[0] ?? step.time,
      time: times.at(-1) ?? step.time,
      count: (before === undefined ? 0 : (before.count ?? 1)) + (step.count ?? 1),
    });
  }
  return [...merged.values()].toSorted((one, other) => stepRanks[one.name] - stepRanks[other.name]);
}

/** The next step; undefined if none is expected, or the boot has not started. */
export function awaitedOf(
  boot: ServerBootConfiguration,
  steps: readonly BootStep[],
  { poweredOnAt, deadlines }: { poweredOnAt: number | undefined; deadlines: Deadlines },
): Awaited | undefined {
  const last = steps.toSorted((one, other) => stepRanks[one.name] - stepRanks[other.name]).at(-1);
  const since = last === undefined ? poweredOnAt : Date.parse(last.time);
  const reached = last === undefined ? -1 : stepRanks[last.name];
  const step = expectedSteps(boot).find((candidate) => stepRanks[candidate] > reached);
  if (step === undefined || since === undefined) return undefined;
  return { step, after: last?.name ?? 'power-on', since, withinMs: deadlines[step] };
}

/** The expected steps of a boot, in order. */
function expectedSteps(boot: ServerBootConfiguration): AwaitedBootStep[] {
  const { spec, status } = boot;
  // A custom script may load any files from anywhere.
  const isOurScript = status?.boot?.method === 'iPXE' && status.boot.script === undefined;
  const includes: Readonly<Record<AwaitedBootStep, boolean>> = {
    script: status?.boot?.method === 'iPXE',
    kernel: isOurScript,
    initrd: isOurScript,
    uki: status?.boot?.method === 'UefiHttp',
    ignition: (spec.ignitionSecretRef?.name ?? '') !== '',
    // A cleanup reports its erasure separately, and may take a day.
    probe: isDiscoveryBoot(boot),
  };
  return awaitedBootSteps.filter((step) => includes[step]);
}

const stepMessages: Readonly<Record<Step | 'power-on', string>> = {
  'power-on': 'the server was powered on',
  dhcp: 'it was seen at DHCP',
  script: 'it fetched its boot script',
  kernel: 'it loaded its kernel',
  squashfs: 'it loaded its squashfs',
  initrd: 'it loaded its initrd',
  uki: 'it loaded its UKI',
  ignition: 'it fetched its ignition',
  probe: 'its probe reported',
  booted: 'it said that it is up',
};

export const overdueCondition = (
  { step, after, since, withinMs }: Awaited,
  { now, hint = '' }: { now: number; hint?: string },
) => ({
  type: overdueType,
  status: 'True' as const,
  reason: reasons[step],
  message: `${step} did not come within ${formatDuration(withinMs)}; ${stepMessages[after]} at ${new Date(since).toISOString()}${hint}`,
  lastTransitionTime: new Date(now).toISOString(),
});

/** Whether the overdue step, or a later one, was recorded in the meantime. */
export function isResolved(reason: string | undefined, steps: readonly BootStep[]): boolean {
  const step = awaitedBootSteps.find((candidate) => reasons[candidate] === reason);
  return step === undefined || steps.some(({ name }) => stepRanks[name] >= stepRanks[step]);
}
