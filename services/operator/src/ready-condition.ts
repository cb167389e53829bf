import type { Outcome, StatusReport } from '@metal/kube/controller.ts';
import type { KubeObject } from '@metal/kube/kind.ts';

export type ReportedCondition = StatusReport['conditions'][number];

export interface Explanation {
  readonly reason: string;
  readonly message: string;
}

/**
 * The one condition that explains an object. True with what it rests on when `ready` is given; otherwise False with
 * the reason of the decision it stands at, and at least what that means. An error that stopped the turn wins over both.
 */
export function readyCondition(
  object: KubeObject,
  outcome: Outcome<string>,
  ready: Explanation | undefined,
): ReportedCondition {
  if (outcome.error !== undefined) return condition(object, 'Ready', 'False', explainError(outcome));
  if (ready !== undefined) return condition(object, 'Ready', 'True', ready);
  const { reason = 'Working', meaning = 'the object is being worked on' } = outcome.decision;
  const message = outcome.decision.message ?? meaning;
  return condition(object, 'Ready', 'False', { reason, message });
}

export function condition(
  object: KubeObject,
  type: string,
  status: ReportedCondition['status'],
  { reason, message }: Explanation,
): ReportedCondition {
  const { generation } = object.metadata;
  return { type, status, reason, message, ...(generation === undefined ? {} : { observedGeneration: generation }) };
}

function explainError({ error, triedAgain }: Outcome<string>): Explanation {
  const next = triedAgain === true ? '; tried again soon' : '; tried again when something changes';
  return { reason: codeOf(error), message: `${error?.message ?? ''}${next}` };
}

/** Errors of the catalogues carry a code; anything else is a defect of ours and says so. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Za-z][A-Za-z0-9_]*$/.test(code) ? code : 'InternalError';
}
