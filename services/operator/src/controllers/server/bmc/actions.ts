import { StaleDecision } from '../../../errors.ts';
import type { ServerReconcile } from '../machine.ts';
import { memoryOf, withBmc, abortWith, systemUriOf } from '../machine.ts';
import { readSystem } from '@metal/redfish/resources/systems.ts';

/** One look at the machine, and at who it is. */
export async function observe(reconcile: ServerReconcile): Promise<void> {
  const uri = await systemUriOf(reconcile);
  const state = await withBmc(reconcile, (bmc) => readSystem(bmc, uri, abortWith(reconcile)));
  verifyIdentity(reconcile, state.uuid);
  memoryOf(reconcile).record(state, reconcile.context.clock.now());
}

/** The URI may have come to name another machine (a blade was moved). Nothing is done to a machine that is not ours. */
function verifyIdentity({ object }: ServerReconcile, seenUuid: string | undefined): void {
  const expected = object.spec.systemUUID.toLowerCase();
  if (seenUuid?.toLowerCase() === expected) return;
  throw new StaleDecision(
    `${object.spec.systemURI ?? 'the system'} reports UUID ${seenUuid ?? 'none'}, but this server is ${expected}; nothing is done to it until the two agree`,
  );
}
