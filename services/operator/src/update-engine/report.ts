import type { Outcome } from '@metal/kube/controller/definition.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import { condition, readyCondition, type ReportedCondition } from '../controllers/ready-condition.ts';
import { firstOf } from './bmc-systems.ts';
import type { UpdatePhase } from './decisions.ts';
import { maintenanceConditions } from './maintenance-conditions.ts';
import type { Plan, UpdateFacts, UpdateObject } from './types.ts';
import type { UpdateKind } from './update-kind.ts';

/** Not written at once: an image is recorded by a wait of its own, and settings may be sent twice. */
export const updateProgressFields = [
  'upgradeTask',
  'plan',
  'installedVersion',
  'attempt',
  'flowState',
  'serverMaintenanceRefs',
];

const shownChanges = 100;

export function reportUpdate<T extends UpdateObject>(
  kind: UpdateKind<T>,
  object: T,
  facts: UpdateFacts,
  outcome: Outcome<UpdatePhase>,
): StatusReport {
  const isDone = outcome.phase === kind.done;
  // Those of an object that is done are deleted at once.
  const own = isDone ? [] : facts.window.own;
  const refs = own.map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name }));
  return {
    fields: {
      state: outcome.phase,
      // A failure belongs to the generation that failed: a later one is tried.
      observedGeneration: outcome.phase === 'Failed' ? facts.failedGeneration : object.metadata.generation,
      failedAttempts: facts.failedAttempts === 0 || isDone ? undefined : facts.failedAttempts,
      serverMaintenanceRefs: refs.length === 0 ? undefined : refs,
      attempt: Object.values(facts.attempt).every((value) => value === undefined) ? undefined : facts.attempt,
      failure: outcome.phase === 'Failed' ? facts.failure : undefined,
      plan: planOf(object, facts, isDone),
      ...(kind.isFlash ? versionFields(object, facts) : {}),
      ...kind.fields?.(object, facts, isDone, outcome.at ?? outcome.phaseSince),
    },
    conditions: [
      readyCondition(object, outcome, isDone ? readyOf(outcome) : undefined),
      ...maintenanceConditions(object, facts, isDone),
      ...retryCondition(object, facts, isDone),
      ...unmanagedCondition(object, facts, isDone),
      ...(facts.comparison?.notes ?? []).map((note) => condition(object, note.type, 'True', note)),
      ...kind.conditions(object, facts, isDone),
    ],
  };
}

function readyOf({ decision, error }: Outcome<UpdatePhase>): { reason: string; message: string } | undefined {
  const { reason = 'AsDesired' } = decision;
  if (error !== undefined || (reason !== 'AsDesired' && reason !== 'ChangeVerified')) return undefined;
  return { reason: 'AsDesired', message: 'the target is as desired' };
}

function planOf({ status }: UpdateObject, { comparison }: UpdateFacts, isDone: boolean): Plan | undefined {
  if (isDone) return { restart: 'None', changes: [], total: 0 };
  if (comparison === undefined) return status?.plan;
  const changes = comparison.steps.flatMap((step) => step.changes);
  const restarts = comparison.steps.map((step) => step.restart);
  const restart = restarts.includes('Host') ? 'Host' : restarts.includes('BMC') ? 'BMC' : 'None';
  return { restart, changes: changes.slice(0, shownChanges), total: changes.length };
}

function versionFields({ status }: UpdateObject, { task, comparison }: UpdateFacts): Record<string, unknown> {
  return { upgradeTask: task, installedVersion: comparison?.installedVersion ?? status?.installedVersion };
}

function unmanagedCondition(
  object: UpdateObject,
  { target: { unmanaged = [], bmcName } }: UpdateFacts,
  isDone: boolean,
): ReportedCondition[] {
  if (unmanaged.length === 0 || isDone) return [];
  const message = `${firstOf(unmanaged)} has no Server of BMC ${bmcName} and is in no maintenance`;
  return [condition(object, 'SystemsOutsideMaintenance', 'True', { reason: 'SystemWithoutServer', message })];
}

function retryCondition(object: UpdateObject, { retriedBy }: UpdateFacts, isDone: boolean): ReportedCondition[] {
  if (retriedBy === undefined || isDone) return [];
  return [
    condition(object, 'RetryOfFailedResourceIssued', 'True', {
      reason: 'RetryOfFailedResourceIssued',
      message: retriedBy,
    }),
  ];
}
