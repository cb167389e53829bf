import { createHash } from 'node:crypto';
import { bootstrapCompletedAnnotationPrefix } from '@metal/api/wire/contract.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { matches } from '@metal/api/common/label-selector.ts';

/**
 * The results of readiness rules for a server, from its labels, conditions and annotations alone: the same for the scheduler, which
 * does not wait until a taint is written, and for the controller that writes the taint.
 */

/** The rule is in force and selects this server. A rule with a faulty selector selects none. */
export function isSubject({ metadata }: Server, rule: ServerReadinessRule): boolean {
  if (rule.metadata.deletionTimestamp !== undefined) return false;
  return selects(rule, metadata.labels ?? {});
}

export const selects = ({ spec }: ServerReadinessRule, labels: Readonly<Record<string, string>>): boolean =>
  matches(spec.serverSelector, labels);

/** The rule holds the server back now: its taint belongs on the server. */
export const isHeldBack = (server: Server, rule: ServerReadinessRule): boolean =>
  isSubject(server, rule) && !hasCompletedBootstrap(server, rule) && unmetCondition(server, rule) !== undefined;

/** Both versions have the same result for every server. Only the status of a rule changes with the fleet. */
export function isSameRule(one: ServerReadinessRule | undefined, other: ServerReadinessRule | undefined): boolean {
  const fingerprintOf = (rule: ServerReadinessRule | undefined) =>
    JSON.stringify([rule?.metadata.uid, rule?.metadata.deletionTimestamp, rule?.spec]);
  return fingerprintOf(one) === fingerprintOf(other);
}

/** The first condition without the required status, as `Type=Status (is …)`. */
export function unmetCondition({ status }: Server, { spec }: ServerReadinessRule): string | undefined {
  for (const { type, requiredStatus } of spec.conditions) {
    const found = (status?.conditions ?? []).filter((condition) => condition.type === type);
    const other = found.find((condition) => condition.status !== requiredStatus);
    if (found.length === 0) return `${type}=${requiredStatus} (not reported yet)`;
    if (other !== undefined) return `${type}=${requiredStatus} (is ${other.status})`;
  }
  return undefined;
}

/**
 * The server has satisfied this BootstrapOnly rule once, which is final. The annotation has the UID of the rule, so that a new rule
 * of the same name starts again; v0.7.0 wrote `true`, which counts for any rule.
 */
export function hasCompletedBootstrap({ metadata }: Server, rule: ServerReadinessRule): boolean {
  if (rule.spec.enforcementMode !== 'BootstrapOnly') return false;
  const value = metadata.annotations?.[bootstrapAnnotationOf(rule.metadata.name)];
  return value !== undefined && (value === 'true' || value === rule.metadata.uid);
}

/** Kubernetes allows 63 characters in an annotation key after the slash. */
const maxKeyNameLength = 63;
const keyNamePrefix = bootstrapCompletedAnnotationPrefix.slice(bootstrapCompletedAnnotationPrefix.indexOf('/') + 1);
const hashLength = 10;

/** Key of the annotation; a name that is too long is cut and gets a hash of the whole name. */
export function bootstrapAnnotationOf(ruleName: string): string {
  const maxLength = maxKeyNameLength - keyNamePrefix.length;
  if (ruleName.length <= maxLength) return `${bootstrapCompletedAnnotationPrefix}${ruleName}`;
  const hash = createHash('sha256').update(ruleName).digest('hex').slice(0, hashLength);
  return `${bootstrapCompletedAnnotationPrefix}${ruleName.slice(0, maxLength - hashLength - 1)}-${hash}`;
}
