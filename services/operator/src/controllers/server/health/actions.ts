import { RedfishError } from '@metal/redfish/errors.ts';
import { readUnhealthyParts as readParts } from '@metal/redfish/resources/unhealthy-parts.ts';
import { abortWith, memoryOf, onlyTo, type ServerReconcile, systemUriOf, withBmc } from '../machine.ts';

/** A failure is not reported: the health itself is known, and the parts are read again later. */
export async function readUnhealthyParts(reconcile: ServerReconcile): Promise<void> {
  const level = reconcile.facts.health?.level;
  if (level === undefined) return;
  const uri = await systemUriOf(reconcile);
  const options = { ...onlyTo(reconcile), ...abortWith(reconcile) };
  const parts = await withBmc(reconcile, (bmc) => readParts(bmc, uri, options)).catch((error: unknown) => {
    if (!(error instanceof RedfishError)) throw error;
    return [];
  });
  memoryOf(reconcile).unhealthyParts = { level, parts, at: reconcile.context.clock.now() };
}

export async function recordHealthEvent(reconcile: ServerReconcile): Promise<void> {
  const { healthChange } = reconcile.facts;
  if (healthChange === undefined) return;
  const { level, type, reason, message } = healthChange;
  memoryOf(reconcile).reportedHealth = level;
  reconcile.recordEvent({ type, reason, action: 'recordHealthEvent', note: message });
}
