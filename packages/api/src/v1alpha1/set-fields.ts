import { rule } from '@metal/kube/kinds/cel.ts';
import * as z from 'zod';
import { int32, int64, plainConditions } from '../common/fields.ts';

/** Fields that the sets of settings and firmware share. */

const numberOrPercent = () =>
  rule(
    z.string().max(10).meta({ 'x-kubernetes-int-or-string': true }),
    "type(self) == int ? self >= 0 : self.matches('^([0-9]|[1-9][0-9]|100)%$')",
    'expected a number such as 5, or a percentage such as "10%"',
  );

/** Limits of the servers that a set works on at once. */
export const rollout = () =>
  z
    .object({
      maxUnavailable: numberOrPercent()
        .optional()
        .describe('Most servers in maintenance for the set at once, as a number or a percentage of the selected ones.'),
      canary: int32()
        .min(0)
        .optional()
        .describe('Number of servers that are done first, one by one, before the others.'),
      maxFailures: numberOrPercent()
        .optional()
        .describe('Number or percentage of failed servers at which the set starts no more. Default: 0 with a canary.'),
      topologyKey: z
        .string()
        .max(316)
        .optional()
        .describe('Label of the servers that orders the waves: servers with one value are done before the next value.'),
      paused: z.boolean().optional().describe('Start no more servers. Those that are being worked on are completed.'),
    })
    .optional()
    .describe('Rollout over the selected servers. Without it, all start at once.');

const rolloutStatus = () =>
  z
    .object({
      wave: int32().optional().describe('Number of the present wave, from 1.'),
      waves: int32().optional().describe('Number of waves.'),
      running: z.array(z.string()).optional().describe('Servers or BMCs that are being worked on, up to 20.'),
      next: z.array(z.string()).optional().describe('Servers or BMCs that follow, up to 20.'),
      waiting: int32().optional().describe('Number of servers or BMCs that have not started.'),
      message: z.string().optional().describe('Why the rollout waits.'),
    })
    .optional()
    .describe('Progress of the rollout.');

const setPlan = () =>
  z
    .object({
      changed: int32().describe('Number of servers or BMCs that would change.'),
      restarted: int32().describe('Number of those that would restart.'),
      unknown: int32().describe('Number of servers or BMCs that were not compared yet.'),
    })
    .optional()
    .describe('What the set would change, with spec.dryRun.');

const setCounters = ['available', 'pending', 'inProgress', 'completed', 'failed'] as const;
const counter = () => int32().optional().describe('Number of objects.');

type SetCounter<Child extends string, Selected extends string> =
  | `fullyLabeled${Selected}`
  | `${(typeof setCounters)[number]}${Child}`;

/** Counters of a set: `availableX`, `pendingX` and so on, for children of kind X, over selected objects. */
export function setStatus<Child extends string, Selected extends string>(child: Child, selected: Selected) {
  const names = [`fullyLabeled${selected}`, ...setCounters.map((state) => `${state}${child}`)];
  // The type composes the names in the same way.
  const shape = Object.fromEntries(names.map((name) => [name, counter()])) as Record<
    SetCounter<Child, Selected>,
    ReturnType<typeof counter>
  >;
  return z
    .object({
      ...shape,
      observedGeneration: int64().optional().describe('metadata.generation that the status was computed for.'),
      rollout: rolloutStatus(),
      plan: setPlan(),
      conditions: plainConditions(),
    })
    .optional()
    .describe('Observed state of the set.');
}

export function setColumns(
  child: string,
  selected: string,
  first: Record<string, string>,
  total: { name: string; type: 'string' | 'integer' },
  counterType: 'string' | 'integer',
) {
  const counter = (state: string) => ({ path: `.status.${state}${child}`, type: counterType });
  return {
    ...first,
    [total.name]: { path: `.status.fullyLabeled${selected}`, type: total.type },
    [`Available${child}`]: counter('available'),
    Pending: counter('pending'),
    InProgress: counter('inProgress'),
    Completed: counter('completed'),
    Failed: counter('failed'),
  } as const;
}
