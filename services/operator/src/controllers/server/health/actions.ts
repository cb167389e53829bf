import { seconds } from '@metal/kube/runtime/durations.ts';
import { readUnhealthyParts as readParts } from '@metal/redfish/resources/unhealthy-parts.ts';
import { memoryOf, onlyTo, type ServerReconcile, systemUriOf, withBmc } from '../machine.ts';

/** Of all requests together: meanwhile nothing else is done for the server. */
const deadlineMs = seconds(20);

/**
 * A failure is not reported: the health itself is known, and the parts are read again later. It is no failure of the BMC
 * either, which the next observation shows.
 */
export async function readUnhealthyParts(reconcile: ServerReconcile): Promise<void> {
  const level = reconcile.facts.health?.level;
  if (level === undefined) return;
  const { clock } = reconcile.context;
  const uri = await systemUriOf(reconcile);
  const deadline = new AbortController();
  using _timer = clock.setTimeout(deadlineMs, () => deadline.abort());
  const options = { ...onlyTo(reconcile), signal: AbortSignal.any([reconcile.signal, deadline.signal]) };
  const { parts, isComplete } = await withBmc(reconcile, (bmc) => readParts(bmc, uri, options));
  reconcile.signal.throwIfAborted();
  const memory = memoryOf(reconcile);
  const before = memory.unhealthyParts?.level === level ? memory.unhealthyParts.parts : undefined;
  memory.unhealthyParts = { level, parts: isComplete || parts.length > 0 ? parts : before, at: clock.now() };
}

export async function recordHealthEvent(reconcile: ServerReconcile): Promise<void> {
  const { healthChange } = reconcile.facts;
  if (healthChange === undefined) return;
  const { level, type, reason, message } = healthChange;
  memoryOf(reconcile).reportedHealth = level;
  reconcile.recordEvent({ type, reason, action: 'recordHealthEvent', note: message });
}
