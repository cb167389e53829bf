import { readBiosReset, resetBios as requestReset } from '@metal/redfish/resources/bios.ts';
import { setBootOrder } from '@metal/redfish/resources/boot-override.ts';
import { StaleDecision } from '../../../errors.ts';
import {
  abortWith,
  isRejectedRequest,
  memoryOf,
  onlyTo,
  type ServerReconcile,
  systemUriOf,
  withBmc,
} from '../machine.ts';
import { attemptKey, ofThisAttempt } from './reset-facts.ts';

/** A repetition before the next start has no effect, so an earlier process may have requested the reset already. */
export async function resetBios(reconcile: ServerReconcile): Promise<void> {
  const uri = await systemUriOf(reconcile);
  const requestedTime = new Date(reconcile.context.clock.now()).toISOString();
  const memory = memoryOf(reconcile);
  const of = attemptKey(reconcile.object);
  try {
    const task = await withBmc(reconcile, (bmc) => requestReset(bmc, uri, onlyTo(reconcile)));
    memory.biosReset = { of, order: { requestedTime, task } };
  } catch (error) {
    if (!isRejectedRequest(error)) throw error;
    memory.biosReset = { of, rejection: error.message };
  }
}

/** Runs after the start that executes the reset. */
export async function observeBios(reconcile: ServerReconcile): Promise<void> {
  const { bios } = reconcile.facts.cleanup;
  if (bios.kind !== 'requested') throw new StaleDecision('nothing was asked of the BIOS');
  const uri = await systemUriOf(reconcile);
  const state = await withBmc(reconcile, (bmc) =>
    readBiosReset(bmc, uri, bios.task, { ...onlyTo(reconcile), ...abortWith(reconcile) }),
  );
  const memory = memoryOf(reconcile);
  const before = ofThisAttempt(reconcile.object, memory.biosReset);
  const at = reconcile.context.clock.now();
  const since = (before?.rejection === undefined ? before?.seen?.since : undefined) ?? at;
  memory.biosReset = { of: attemptKey(reconcile.object), order: bios, seen: { at, since, state } };
}

/** The last observation is invalidated: the next one shows whether the BMC applied the order. */
export async function restoreBootOrder(reconcile: ServerReconcile): Promise<void> {
  const { bootOrder } = reconcile.facts.cleanup;
  if (bootOrder.kind !== 'due' && bootOrder.kind !== 'requested')
    throw new StaleDecision('the boot order is as wanted');
  const uri = await systemUriOf(reconcile);
  const memory = memoryOf(reconcile);
  const of = attemptKey(reconcile.object);
  const before = ofThisAttempt(reconcile.object, memory.bootOrderReset);
  const at = reconcile.context.clock.now();
  const since = (before?.rejection === undefined ? before?.since : undefined) ?? at;
  try {
    const result = await withBmc(reconcile, (bmc) => setBootOrder(bmc, uri, bootOrder.devices, onlyTo(reconcile)));
    memory.bootOrderReset = { of, at, since, isPending: result === 'pending' };
    memory.invalidate();
  } catch (error) {
    if (!isRejectedRequest(error)) throw error;
    memory.bootOrderReset = { of, rejection: error.message };
  }
}
