import { hasUuid } from '@metal/redfish/resources/identity.ts';
import { readSystem, type SystemState } from '@metal/redfish/resources/systems.ts';
import { StaleDecision } from '../../../errors.ts';
import { abortWith, memoryOf, type ServerReconcile, systemUriOf, withBmc } from '../machine.ts';

/** Reads the ComputerSystem once: power state, boot override, boot order, indicator, and the UUID. */
export async function observe(reconcile: ServerReconcile): Promise<void> {
  const uri = await systemUriOf(reconcile);
  const state = await withBmc(reconcile, (bmc) => readSystem(bmc, uri, abortWith(reconcile)));
  verifyIdentity(reconcile, state);
  const { object, context } = reconcile;
  const memory = memoryOf(reconcile);
  const isAwaited = memory.isOutdated || state.powerState !== memory.state?.value.powerState;
  memory.record(state, context.clock.now());
  if (isAwaited) context.bmcConnections.powerObserved.emit(object.metadata.name);
}

/** The URI may lead to another machine by now (a blade was moved). Such a machine is not touched. */
function verifyIdentity({ object }: ServerReconcile, seen: SystemState): void {
  const expected = object.spec.systemUUID.toLowerCase();
  if (hasUuid(seen, expected)) return;
  throw new StaleDecision(
    `${object.spec.systemURI ?? 'the system'} reports UUID ${seen.uuid ?? 'none'}, but this server is ${expected}; nothing is done to it until the two agree`,
  );
}
