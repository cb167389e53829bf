import type { Outcome } from '@metal/kube/controller/definition.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import { firstOf } from '../../rollouts/plan-rollout.ts';
import { complianceOf, type Update } from '../../rollouts/update.ts';
import { condition, type Explanation, readyCondition, type ReportedCondition } from '../ready-condition.ts';
import type { SetFacts, SetPhase } from './facts.ts';
import type { SetReason } from './reasons.ts';
import type { SetKind, UpdateSet } from './set-kind.ts';
import { blockedText, conflictsText } from './table.ts';

type Explained = Explanation & { readonly reason: SetReason };

const mostListed = 20;

export function reportSet<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  set: S,
  facts: SetFacts<C>,
  outcome: Outcome<SetPhase>,
): StatusReport {
  const ready = outcome.decision.kind === 'rest' ? readyText(facts) : undefined;
  return {
    fields: {
      ...countersOf(kind, facts),
      observedGeneration: set.metadata.generation,
      rollout: rolloutOf(facts),
      plan: facts.isDryRun ? planOf(facts.children) : undefined,
    },
    conditions: [
      readyCondition(set, outcome, ready),
      progressing(set, facts),
      compliant(set, facts),
      contested(set, facts),
    ],
  };
}

/** Names of the counters, in the order in which they are computed. */
export const counterNames = <S extends UpdateSet, C extends Update>({
  childKind,
  targetKind,
}: SetKind<S, C>): string[] => [
  `fullyLabeled${targetKind}s`,
  ...['available', 'pending', 'inProgress', 'completed', 'failed'].map((state) => `${state}${childKind.kind}`),
];

function countersOf<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  { selected, children }: SetFacts<C>,
): Record<string, number> {
  const inState = (...states: string[]): number =>
    children.filter(({ status }) => states.includes(status?.state ?? '')).length;
  const counts = [
    selected,
    children.length,
    inState('', 'Pending'),
    inState('InProgress'),
    inState('Applied', 'Completed'),
    inState('Failed'),
  ];
  return Object.fromEntries(counterNames(kind).map((name, index) => [name, counts[index] ?? 0]));
}

function rolloutOf({ hasRollout, plan, isDryRun }: SetFacts): object | undefined {
  if (!hasRollout) return undefined;
  const { wave, waves, running, waiting, hold } = plan;
  return {
    wave,
    waves,
    running: running.slice(0, mostListed),
    next: waiting.slice(0, mostListed),
    waiting: waiting.length,
    ...(hold === undefined || isDryRun ? {} : { message: hold.message }),
  };
}

function planOf(children: readonly Update[]): object {
  const plans = children.map((child) => (complianceOf(child) === 'unknown' ? undefined : child.status?.plan));
  const changed = plans.filter((plan) => plan !== undefined && plan.total > 0);
  return {
    changed: changed.length,
    restarted: changed.filter((plan) => plan?.restart !== 'None').length,
    unknown: children.filter((child) => complianceOf(child) === 'unknown').length,
  };
}

function readyText(facts: SetFacts): Explained {
  const { selected, isDryRun, contested: conflicts } = facts;
  if (selected === 0) return { reason: 'NothingSelected', message: 'the selector matches nothing' };
  if (isDryRun) return { reason: 'DryRun', message: 'only compared; status.plan has the result' };
  if (conflicts.length > 0) return contestedText(facts);
  return { reason: 'SetComplete', message: `${selected} of ${selected} are as desired` };
}

const contestedText = ({ contested: conflicts }: SetFacts): Explained => ({
  reason: 'SetContested',
  message: `${conflictsText(conflicts)}. This set has them; narrow one of the selectors`,
});

function progressing(set: UpdateSet, { plan, isDryRun }: SetFacts): ReportedCondition {
  const { running, waiting, hold } = plan;
  const isStopped =
    hold !== undefined && ['RolloutPaused', 'RolloutStopped', 'MaxUnavailableZero'].includes(hold.reason);
  if (isDryRun) return condition(set, 'Progressing', 'False', { reason: 'DryRun', message: 'only compared' });
  if (running.length > 0 || (waiting.length > 0 && !isStopped)) {
    const message = `${running.length} in progress, ${waiting.length} wait`;
    return condition(set, 'Progressing', 'True', { reason: 'RolloutInProgress', message });
  }
  return condition(
    set,
    'Progressing',
    'False',
    hold ?? { reason: 'NothingInProgress', message: 'nothing is in progress' },
  );
}

function compliant(set: UpdateSet, { children, selected, served }: SetFacts): ReportedCondition {
  const complying = children.filter((child) => complianceOf(child) === 'compliant').length;
  const others = [...served].filter(([, child]) => complianceOf(child) !== 'compliant');
  const deviating = others.filter(([, child]) => complianceOf(child) === 'deviating').map(([target]) => target);
  const message = `${complying} of ${selected} comply`;
  if (deviating.length > 0)
    return condition(set, 'Compliant', 'False', {
      reason: 'Deviating',
      message: `${message}; ${firstOf(deviating)} ${deviating.length === 1 ? 'does' : 'do'} not`,
    });
  if (others.length > 0 || complying < selected) {
    const unknown = others.map(([target]) => target);
    return condition(set, 'Compliant', 'Unknown', {
      reason: 'NotCompared',
      message: unknown.length === 0 ? message : `${message}; ${firstOf(unknown)} not compared yet`,
    });
  }
  return condition(set, 'Compliant', 'True', { reason: 'AllComply', message });
}

function contested(set: UpdateSet, facts: SetFacts): ReportedCondition {
  const all = [...facts.taken, ...facts.contested];
  if (all.length === 0 && facts.blocked.length > 0)
    return condition(set, 'Contested', 'True', { reason: 'SetContested', message: blockedText(facts) });
  return all.length === 0
    ? condition(set, 'Contested', 'False', { reason: 'NotContested', message: 'no other object concerns its targets' })
    : condition(set, 'Contested', 'True', { reason: 'SetContested', message: conflictsText(all) });
}
