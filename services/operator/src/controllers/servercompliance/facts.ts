import type { Server } from '@metal/api/v1alpha1/server.ts';
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
    isReported: conditionsOf(server).some(({ type }) => type === compliantType),
  };
}

export const hasSets = ({ sets }: ComplianceFacts): boolean => Object.values(sets).some((names) => names.length > 0);
