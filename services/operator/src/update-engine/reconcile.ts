import type { Reconcile } from '@metal/kube/controller/definition.ts';
import type { OperatorContext } from '../controllers/context.ts';
import { StaleDecision } from '../errors.ts';
import type { UpdateMemory } from './memory.ts';
import type { UpdateFacts, UpdateObject } from './types.ts';
import type { Session } from './update-kind.ts';

/** Argument of an action of the engine. */
export type UpdateReconcile<T> = Reconcile<T, UpdateFacts, OperatorContext, UpdateMemory>;

/** Requests to the BMC of the target. */
export function inSession<T extends UpdateObject, R>(
  { object, facts, context, signal }: UpdateReconcile<T>,
  callback: (session: Session<T>) => Promise<R>,
): Promise<R> {
  const { attempt, target } = facts;
  const { bmcName, connection } = target;
  if (connection === undefined) throw new StaleDecision(`BMC ${bmcName} has no address or credentials any more`);
  return context.bmcConnections.withBmc(bmcName, connection, (bmc) =>
    callback({ bmc, object, target, context, signal, isSent: attempt.acceptTime !== undefined, attempt }),
  );
}
