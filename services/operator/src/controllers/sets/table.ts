import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { act, type Decision, type PhaseTable, rest, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import { firstOf } from '../../rollouts/plan-rollout.ts';
import type { SetFacts, SetPhase } from './facts.ts';
import type { SetReason } from './reasons.ts';

export type SetAction =
  | 'ignoreChildren'
  | 'resumeChildren'
  | 'deleteChildren'
  | 'createChildren'
  | 'updateChildren'
  | 'holdChildren'
  | 'retryChildren'
  | 'startChildren';

const row = rowsOf<SetPhase, SetFacts, SetAction, SetReason>();

const resyncMs = minutes(10);
/** The watch delivers what the API server has by then. */
const cacheLagMs = seconds(1);
/** The status follows a rollout, not each of its objects. */
const reportAfterMs = seconds(15);

export const setTable: PhaseTable<SetPhase, SetFacts, SetAction, SetReason> = {
  Active: row([], (set) => changeChildren(set) ?? explain(set)),
};

/** The first change that the objects need. */
function changeChildren(set: SetFacts): Decision<never, SetAction, SetReason> | undefined {
  if (set.selectorFault !== undefined)
    return wait(resyncMs, 'InvalidSelector', `the selector: ${set.selectorFault}; nothing is created or deleted`);
  if (!set.hasTemplate) return wait(resyncMs, 'TemplateMissing', 'the set has no template; add it to the spec');
  if (set.toIgnore.length > 0) return act('ignoreChildren', 'IgnoringChildren', countOf(set.toIgnore));
  if (set.toResume.length > 0) return act('resumeChildren', 'ResumingChildren', countOf(set.toResume));
  if (set.isIgnored) return wait(resyncMs, 'SetIgnored');
  if (set.leftover.length > 0) return act('deleteChildren', 'DeletingChildren', countOf(set.leftover));
  if (set.missing.length > 0) return act('createChildren', 'CreatingChildren', countOf(set.missing));
  if (set.outdated.length > 0) return act('updateChildren', 'UpdatingChildren', countOf(set.outdated));
  if (set.toHold.length > 0) return act('holdChildren', 'HoldingChildren', countOf(set.toHold));
  if (set.isRetrying) return act('retryChildren', 'RetryingChildren', countOf(set.toRetry));
  if (set.isIgnoring) return undefined;
  if (set.toStart.length > 0)
    return set.isCacheBehind
      ? wait(cacheLagMs, 'RolloutInProgress', 'the cache is behind the API server', reportAfterMs)
      : act('startChildren', 'StartingChildren', countOf(set.toStart));
  return undefined;
}

const countOf = ({ length }: readonly unknown[]): string => `${length} ${length === 1 ? 'object' : 'objects'}`;

/** The cause for which the set waits. */
function explain(set: SetFacts): Decision<never, never, SetReason> {
  if (set.taken.length > 0)
    return wait(
      resyncMs,
      'TargetsTaken',
      `${conflictsText(set.taken)}. That object has them; narrow one of the selectors`,
    );
  if (set.foreign.length > 0)
    return wait(resyncMs, 'NameTaken', `${firstOf(set.foreign)} exists and is not of this set; rename or delete it`);
  if (set.isIgnoring) return wait(resyncMs, 'ChildrenIgnored');
  if (set.blocked.length > 0) return wait(resyncMs, 'SetContested', blockedText(set));
  return explainRollout(set);
}

export function blockedText({ blocked }: SetFacts): string {
  const names = firstOf(blocked.map(({ metadata }) => metadata.name));
  return `${countOf(blocked)} of this set and another object are for one component (see ${names}); narrow one selector`;
}

/** `BIOSSettingsSet x also concerns 2 of the targets: a, b` */
export function conflictsText(conflicts: SetFacts['taken']): string {
  const targets = conflicts.map(({ target }) => target);
  const others = [...new Set(conflicts.map(({ by }) => by))];
  const verb = others.length === 1 ? 'concerns' : 'concern';
  return `${firstOf(others)} also ${verb} ${targets.length} of the targets: ${firstOf(targets)}`;
}

function explainRollout({ plan, isDryRun, selected }: SetFacts): Decision<never, never, SetReason> {
  const { waiting, running, failed, hold } = plan;
  if (isDryRun) return rest;
  if (hold !== undefined && waiting.length > 0)
    return wait(resyncMs, hold.reason, `${waiting.length} of ${selected} wait: ${hold.message}`, reportAfterMs);
  if (running.length > 0)
    return wait(
      resyncMs,
      'RolloutInProgress',
      `${running.length} of ${selected} in progress: ${firstOf(running)}`,
      reportAfterMs,
    );
  if (failed.length > 0)
    return wait(
      resyncMs,
      'ChildrenFailed',
      `${failed.length} of ${selected} failed: ${firstOf(failed)}; correct the cause, then annotate the set with operation=retry-child`,
    );
  return rest;
}

/** Objects of the set are deleted with it. Those that change a machine keep it until they are done. */
export function decideDeletion({ atWork }: SetFacts): Decision<never, never, SetReason> {
  if (atWork.length === 0) return rest;
  return wait(seconds(30), 'ChildrenAtWork', `${atWork.length} in progress: ${firstOf(atWork)}`);
}
