import { readBiosReset, resetBios as askForReset } from '@metal/redfish/resources/bios.ts';
import { setBootOrder } from '@metal/redfish/resources/boot-override.ts';
import { StaleDecision } from '../../../errors.ts';
import { attemptKey, ofThisAttempt } from './reset-facts.ts';
import {
  abortWith,
  isRejectedRequest,
  memoryOf,
  onlyTo,
  type ServerReconcile,
  systemUriOf,
  withBmc,
} from '../machine.ts';

/** Asking again before the next start changes nothing; so nobody needs to know whether it was asked for before. */
export async function resetBios(reconcile: ServerReconcile): Promise<void> {
  const uri = await systemUriOf(reconcile);
  const requestedTime = new Date(reconcile.context.clock.now()).toISOString();
  const memory = memoryOf(reconcile);
  const of = attemptKey(reconcile.object);
  try {
    const task = await withBmc(reconcile, (bmc) => askForReset(bmc, uri, onlyTo(reconcile)));
    memory.biosReset = { of, order: { requestedTime, task } };
  } catch (error) {
    if (!isRejectedRequest(error)) throw error;
    memory.biosReset = { of, rejection: error.message };
  }
}

/** After the start that the reset takes effect with. */
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

/** What was seen before is out of date: whether the order is as wanted shows at the next look. */
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
