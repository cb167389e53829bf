import type { Outcome } from '@metal/kube/controller/definition.ts';
import type { Condition, KubeObject } from '@metal/kube/kinds/kind.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import { withoutControlCharacters } from '@metal/kube/runtime/printable.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { RedfishError, underlyingError } from '@metal/redfish/errors.ts';

export type ReportedCondition = StatusReport['conditions'][number];

export interface Explanation {
  readonly reason: string;
  readonly message: string;
}

/**
 * The condition that explains an object. True with `ready` if given; otherwise False with reason and message of the decision (by
 * default the meaning of the reason) and the time since when the reason holds. An error that ended the reconcile wins over both.
 */
export function readyCondition(
  object: KubeObject,
  outcome: Outcome<string>,
  ready: Explanation | undefined,
): ReportedCondition {
  if (outcome.error === undefined && ready !== undefined) return condition(object, 'Ready', 'True', ready);
  const { reason, message } = outcome.error === undefined ? explainDecision(outcome) : explainError(outcome);
  const since = sinceOf(object, reason) ?? outcome.at ?? outcome.phaseSince;
  return condition(object, 'Ready', 'False', { reason, message: `${message.replace(/\.$/, '')} (since ${since})` });
}

function explainDecision({ decision }: Outcome<string>): Explanation {
  const { reason = 'Working', meaning = 'the object is being worked on' } = decision;
  return { reason, message: decision.message ?? meaning };
}

/** lastTransitionTime stays while one reason follows another; the message has the time of the reason. */
function sinceOf(object: KubeObject, reason: string): string | undefined {
  const before = conditionsOf(object).find(({ type }) => type === 'Ready');
  if (before?.status !== 'False' || before.reason !== reason) return undefined;
  return /\(since (\S+)\)$/.exec(before.message)?.[1];
}

export function conditionsOf(object: KubeObject): readonly Condition[] {
  const status = 'status' in object ? object.status : undefined;
  if (typeof status !== 'object' || status === null || !('conditions' in status)) return [];
  // Every kind whose controller reports conditions has them in this shape.
  return (status.conditions ?? []) as readonly Condition[];
}

export function condition(
  object: KubeObject,
  type: string,
  status: ReportedCondition['status'],
  { reason, message }: Explanation,
): ReportedCondition {
  const { generation } = object.metadata;
  const printable = withoutControlCharacters(message);
  return {
    type,
    status,
    reason,
    message: printable,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

function explainError({ error, willRetry }: Outcome<string>): Explanation {
  const cause = error instanceof RedfishError ? underlyingError(error) : error;
  const { message = '' } = cause ?? {};
  // A message about a BMC has its remedy; it is tried again by itself.
  if (cause instanceof RedfishError) return { reason: cause.code, message };
  const next = willRetry === true ? '; tried again soon' : '; tried again after a change';
  return { reason: codeOf(cause), message: `${isOfApiServer(cause) ? shortened(message) : message}${next}` };
}

const isOfApiServer = (error: Error | undefined): boolean =>
  error instanceof KubeError || error?.cause instanceof KubeError;

const errorParts = { start: 40, end: 85 };

/** The API server repeats names and whole values, and ends with what is wrong; the log has all of it. */
const shortened = (message: string): string =>
  message.length > errorParts.start + errorParts.end
    ? `${message.slice(0, errorParts.start)} … ${message.slice(-errorParts.end)}`
    : message;

/** Errors of the catalogues carry a code; any other error is a defect. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Za-z][A-Za-z0-9_]*$/.test(code) ? code : 'InternalError';
}
