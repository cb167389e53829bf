import type { AwaitedBootStep } from '@metal/api/wire/boot-steps.ts';
import { Counter, type Registry } from 'prom-client';
import type { Step } from './boot-steps.ts';

/** Counts boot steps, overdue steps and denied requests. */
export function countSteps(metrics: Registry | undefined) {
  if (metrics === undefined) return {};
  const registers = [metrics];
  const seen = new Counter({
    name: 'metal_boot_steps_total',
    help: 'Boot steps, including repeated ones',
    labelNames: ['step'],
    registers,
  });
  const overdue = new Counter({
    name: 'metal_boot_overdue_total',
    help: 'Boot steps that exceeded their deadline',
    labelNames: ['step'],
    registers,
  });
  const denied = new Counter({
    name: 'metal_boot_refused_total',
    help: 'Requests for boot data that were denied because the machine is off, or because another client loads the boot',
    labelNames: ['reason'],
    registers,
  });
  const onDenied = (reason: string) => denied.inc({ reason });
  return {
    onDenied,
    onStep: (step: Step) => seen.inc({ step }),
    onOverdue: (step: AwaitedBootStep) => overdue.inc({ step }),
  };
}
