import { Server } from '@metal/api/v1alpha1/server.ts';
import {
  adoptedAnnotation,
  operationAnnotation,
  operationUnderWayAnnotation,
  parkedAnnotation,
} from '@metal/api/wire/contract.ts';
import { RedfishError, wasNotApplied } from '@metal/redfish/errors.ts';
import { type ResetType, resetSystem } from '@metal/redfish/resources/power.ts';
import { observe } from '../bmc/actions.ts';
import { serverOperations } from './facts.ts';
import { memoryOf, onlyTo, patchGuarded, type ServerReconcile, systemUriOf, withBmc } from '../machine.ts';

const consumed = { metadata: { annotations: { [operationAnnotation]: null } } };

/** Events of v0.7.0 about operations name this action. */
const clearing = 'ClearOperationAnnotation';

/** The request is accepted; earlier failures no longer count. */
export async function consumeOperation(reconcile: ServerReconcile): Promise<void> {
  await patchGuarded(reconcile, consumed);
  memoryOf(reconcile).reset();
}

export async function dropUnsupportedOperation(reconcile: ServerReconcile): Promise<void> {
  await patchGuarded(reconcile, consumed);
  const note = `Unsupported operation annotation "${operationValue(reconcile)}"; a Server knows ${serverOperations.join(', ')}`;
  reconcile.recordEvent({ type: 'Warning', reason: 'UnsupportedOperation', action: clearing, note });
}

export async function dropParkedOperation(reconcile: ServerReconcile): Promise<void> {
  const isPark = reconcile.facts.operation.kind === 'park';
  await patchGuarded(reconcile, consumed);
  const note = `Operation "${operationValue(reconcile)}" dropped because server is parked`;
  if (!isPark) reconcile.recordEvent({ type: 'Warning', reason: 'ParkedOperationDropped', action: clearing, note });
}

export async function dropDecommissionedOperation(reconcile: ServerReconcile): Promise<void> {
  await patchGuarded(reconcile, consumed);
  const note = `Operation "${operationValue(reconcile)}" dropped because server is decommissioned; recommission it first`;
  reconcile.recordEvent({ type: 'Warning', reason: 'DecommissionedOperationDropped', action: clearing, note });
}

export async function rejectRediscovery(reconcile: ServerReconcile): Promise<void> {
  await patchGuarded(reconcile, consumed);
  const state = reconcile.object.status?.state ?? 'Initial';
  const note = `Discovery anew refused because server is in state "${state}"; ask again when it is Available`;
  reconcile.recordEvent({ type: 'Warning', reason: 'RediscoverRefused', action: clearing, note });
}

export async function rejectAdoption(reconcile: ServerReconcile): Promise<void> {
  await patchGuarded(reconcile, consumed);
  const state = reconcile.object.status?.state ?? 'Initial';
  const note = `Adoption refused because server is in state "${state}"; ask when it is Initial or Available`;
  reconcile.recordEvent({ type: 'Warning', reason: 'AdoptRefused', action: clearing, note });
}

/** The request becomes the mark of its claim. Only then the server is Reserved. */
export async function acceptAdoption(reconcile: ServerReconcile): Promise<void> {
  const { claim } = reconcile.facts;
  if (claim.binding !== 'bound') return;
  await patchGuarded(reconcile, {
    metadata: { annotations: { [operationAnnotation]: null, [adoptedAnnotation]: claim.uid } },
  });
  const note = `Adopted as it is by claim ${claim.name}`;
  reconcile.recordEvent({ type: 'Normal', reason: 'Adopted', action: 'Adopt', note });
}

/** One event per state. The annotation stays, and the server is parked later. */
export async function deferPark(reconcile: ServerReconcile): Promise<void> {
  const state = reconcile.object.status?.state ?? '';
  memoryOf(reconcile).parkDeferredIn = state;
  const note = `Park request deferred because server is in state "${state}"`;
  reconcile.recordEvent({ type: 'Warning', reason: 'ParkDeferred', action: 'DeferPark', note });
}

/** The machine is off: one guarded write sets the mark and removes the operation annotation. */
export async function park(reconcile: ServerReconcile): Promise<void> {
  await patchGuarded(reconcile, {
    metadata: { annotations: { [operationAnnotation]: null, [parkedAnnotation]: 'true' } },
  });
  reconcile.recordEvent({ type: 'Normal', reason: 'Parked', action: 'PowerOff', note: 'Parked Server, powered off' });
}

/** The event is that of the state that follows. */
export async function unpark(reconcile: ServerReconcile): Promise<void> {
  await patchGuarded(reconcile, {
    metadata: { annotations: { [operationAnnotation]: null, [parkedAnnotation]: null } },
  });
  const memory = memoryOf(reconcile);
  // Somebody may have changed the machine: earlier readings are outdated.
  memory.inventory = undefined;
  memory.resumeFromParked();
}

/**
 * Resets the machine at most once per request. Before the Redfish request is sent, the operation annotation is replaced by
 * a mark, which stays until the response is known:
 *
 *   operation ─► operation-under-way ─► BMC ─► accepted: mark removed
 *                       │                └──► not applied: operation restored, retried later
 *                       └─ process or connection lost ─► OperationUncertain, not repeated
 */
export async function resetMachine(reconcile: ServerReconcile): Promise<void> {
  const { operation } = reconcile.facts;
  if (operation.kind !== 'reset') return;
  const { value, type } = operation;
  const memory = memoryOf(reconcile);
  const uri = await systemUriOf(reconcile);
  // Verifies the machine and its BMC before the annotation is replaced.
  await observe(reconcile);
  memory.operation = value;
  try {
    await patchGuarded(reconcile, {
      metadata: { annotations: { [operationAnnotation]: null, [operationUnderWayAnnotation]: value } },
    });
    await requestReset(reconcile, uri, type, value);
  } finally {
    memory.operation = undefined;
  }
}

async function requestReset(reconcile: ServerReconcile, uri: string, type: ResetType, value: string): Promise<void> {
  let isSent = false;
  const onSend = () => {
    isSent = true;
  };
  try {
    const done = await withBmc(reconcile, (bmc) => resetSystem(bmc, uri, type, { ...onlyTo(reconcile), onSend }));
    memoryOf(reconcile).reset();
    await removeMark(reconcile);
    reconcile.recordEvent({
      type: 'Normal',
      reason: 'OperationDone',
      action: value,
      note: `The BMC accepted reset type ${done}`,
    });
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    if (error.code === 'NotSupported') {
      await removeMark(reconcile);
      reconcile.recordEvent({ type: 'Warning', reason: 'UnsupportedOperation', action: clearing, note: error.message });
    } else if (isSent && !wasNotApplied(error)) {
      await removeMark(reconcile);
      recordUncertainEvent(reconcile, value, error.message);
    } else {
      await restoreOperation(reconcile, value);
      throw error;
    }
  }
}

/** The mark of a process that has ended: a person has to check the machine. */
export async function dropInterruptedOperation(reconcile: ServerReconcile): Promise<void> {
  await removeMark(reconcile);
  recordUncertainEvent(reconcile, operationValue(reconcile), 'the operator was restarted meanwhile');
}

function recordUncertainEvent(reconcile: ServerReconcile, value: string, why: string): void {
  const note = `Nobody knows whether "${value}" was carried out: ${why}. It is not repeated; look at the machine and ask again`;
  reconcile.recordEvent({ type: 'Warning', reason: 'OperationUncertain', action: clearing, note });
}

/** Not guarded by the resource version: writing the mark has changed the object. */
async function removeMark({ object, context }: ServerReconcile): Promise<void> {
  const patch = { metadata: { annotations: { [operationUnderWayAnnotation]: null } } };
  await context.client.mergePatch(Server, { name: object.metadata.name }, patch);
}

/** A newer request of a person wins. If another process has removed the mark meanwhile, nothing is restored. */
async function restoreOperation({ object, context: { client } }: ServerReconcile, value: string): Promise<void> {
  const { name, uid } = object.metadata;
  const { metadata } = await client.get(Server, { name });
  const { [operationAnnotation]: requested = value, [operationUnderWayAnnotation]: mark } = metadata.annotations ?? {};
  if (metadata.uid !== uid || mark !== value) return;
  const annotations = { [operationUnderWayAnnotation]: null, [operationAnnotation]: requested };
  const { resourceVersion } = metadata;
  await client.mergePatch(Server, { name }, { metadata: { annotations } }, { resourceVersion });
}

function operationValue({ facts: { operation } }: ServerReconcile): string {
  return operation.kind === 'none' ? '' : operation.value;
}
