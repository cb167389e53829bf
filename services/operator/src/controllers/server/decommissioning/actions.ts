import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import {
  decommissionAnnotation,
  decommissionedAnnotation,
  operationAnnotation,
  resetBmcAnnotation,
} from '@metal/api/wire/contract.ts';
import { undefinedIfAbsent } from '@metal/kube/errors.ts';
import { StaleDecision } from '../../../errors.ts';
import { memoryOf, patchGuarded, type ServerReconcile } from '../machine.ts';

const timeOf = ({ context }: ServerReconcile): string =>
  new Date(context.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');

/** One guarded write replaces the request by the mark. A later request, with or without force, replaces an earlier one. */
export async function acceptDecommission(reconcile: ServerReconcile): Promise<void> {
  const { operation, decommission, claim } = reconcile.facts;
  if (operation.kind !== 'decommission') throw new StaleDecision('the operation changed');
  const since = decommission.request?.operation === operation.value ? decommission.request.since : timeOf(reconcile);
  await patchGuarded(reconcile, {
    metadata: {
      annotations: { [operationAnnotation]: null, [decommissionAnnotation]: `${operation.value} ${since}` },
    },
  });
  const holder = claim.binding === 'unbound' ? 'no claim holds it' : `claim ${claim.name} holds it`;
  const note = `It leaves the fleet by ${operation.value}; ${holder}`;
  reconcile.recordEvent({ type: 'Normal', reason: 'DecommissionRequested', action: 'Decommission', note });
}

/** The mark of the BMC object comes first: a process that takes over finds the server not done yet, and writes both. */
export async function recordDecommissioned(reconcile: ServerReconcile): Promise<void> {
  const { object, facts, context } = reconcile;
  const { decommission } = facts;
  const time = decommission.completedTime ?? timeOf(reconcile);
  const mark = { metadata: { annotations: { [decommissionedAnnotation]: time } } };
  const bmcName = object.spec.bmcRef?.name;
  if (decommission.leavesBmc && bmcName !== undefined)
    await context.client.mergePatch(BMC, { name: bmcName }, mark).catch(undefinedIfAbsent);
  if (decommission.isDone) return;
  await patchGuarded(reconcile, mark);
  reconcile.recordEvent({
    type: 'Normal',
    reason: 'Decommissioned',
    action: 'Decommission',
    note: `It was decommissioned by ${decommission.request?.operation ?? ''}; it is off, and nothing is sent to its BMC`,
  });
}

/**
 * The BMC comes first: the server may need it at once. Earlier readings are outdated, and the machine may be another one.
 * The annotation of the BMC reset is removed, so that the next decommission needs a new decision.
 */
export async function recommission(reconcile: ServerReconcile): Promise<void> {
  const { object, context } = reconcile;
  const bmcName = object.spec.bmcRef?.name;
  const bmc = bmcName === undefined ? undefined : context.caches.bmcs.get(bmcName);
  const unmark = { [decommissionedAnnotation]: null };
  if (bmc?.metadata.annotations?.[decommissionedAnnotation] !== undefined)
    await context.client.mergePatch(BMC, bmc.metadata, { metadata: { annotations: unmark } }).catch(undefinedIfAbsent);
  await patchGuarded(reconcile, {
    metadata: {
      annotations: {
        ...unmark,
        [operationAnnotation]: null,
        [decommissionAnnotation]: null,
        [resetBmcAnnotation]: null,
      },
    },
  });
  const memory = memoryOf(reconcile);
  memory.reset();
  memory.inventory = undefined;
  memory.bmcReset = undefined;
  const note = reconcile.facts.decommission.isDone
    ? 'It comes back to the fleet, and its hardware is read anew'
    : 'Its decommission was cancelled';
  reconcile.recordEvent({ type: 'Normal', reason: 'Recommissioned', action: 'Recommission', note });
}
