import type { Server } from '@metal/api/v1alpha1/server.ts';
import { isSameJson } from '@metal/kube/controller/status-diff.ts';
import { controllerOf } from '@metal/kube/kinds/kind.ts';
import { byName } from '@metal/kube/runtime/sorted-names.ts';
import { updatesOf } from '../../rollouts/fleet-updates.ts';
import { type Compliance, complianceOf } from '../../rollouts/update.ts';
import type { OperatorContext } from '../context.ts';
import { conditionsOf } from '../ready-condition.ts';

/** Condition of a Server: whether it is as the sets that select it want it. */
export const compliantType = 'Compliant';

export type CompliancePhase = 'Watched';
export type ComplianceAction = 'removeCondition';

export interface ComplianceFacts {
  /** Names of the sets with an object for the server or its BMC. */
  readonly sets: Readonly<Record<Compliance, readonly string[]>>;
  readonly isReported: boolean;
}

export function readComplianceFacts(server: Server, { caches }: OperatorContext): ComplianceFacts {
  const found = updatesOf(server, caches).flatMap((update) => {
    const owner = controllerOf(update);
    return owner?.kind === `${update.kind}Set`
      ? [{ set: `${owner.kind} ${owner.name}`, is: complianceOf(update) }]
      : [];
  });
  const named = (is: Compliance): string[] =>
    found
      .filter((one) => one.is === is)
      .map(({ set }) => set)
      .toSorted(byName);
  return {
    sets: { compliant: named('compliant'), deviating: named('deviating'), unknown: named('unknown') },
    isReported: reportedIn(server) !== undefined,
  };
}

/** Changes of what is read of a Server: it is written several times in each phase, and by people. */
export function concernsCompliance(before: Server | undefined, after: Server | undefined): boolean {
  if (before === undefined || after === undefined) return true;
  return before.spec.bmcRef?.name !== after.spec.bmcRef?.name || !isSameJson(reportedIn(before), reportedIn(after));
}

const reportedIn = (server: Server) => conditionsOf(server).find(({ type }) => type === compliantType);

export const hasSets = ({ sets }: ComplianceFacts): boolean => Object.values(sets).some((names) => names.length > 0);
