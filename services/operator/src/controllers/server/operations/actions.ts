import { operationAnnotation, operationUnderWayAnnotation, parkedAnnotation } from '@metal/api/wire/contract.ts';
import { RedfishError, wasNotApplied } from '@metal/redfish/errors.ts';
import { resetSystem, type ResetType } from '@metal/redfish/resources/power.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { observe } from '../bmc/actions.ts';
import { memoryOf, onlyTo, patchGuarded, type ServerReconcile, systemUriOf, withBmc } from '../machine.ts';

const consumed = { metadata: { annotations: { [operationAnnotation]: null } } };

/** Events of v0.7.0 about operations name this action. */
const clearing = 'ClearOperationAnnotation';

/** The request was heard, and what failed before counts no more. */
export async function consumeOperation(reconcile: ServerReconcile): Promise<void> {
  await patchGuarded(reconcile, consumed);
  memoryOf(reconcile).reset();
}

export async function dropUnsupportedOperation(reconcile: ServerReconcile): Promise<void> {
  await patchGuarded(reconcile, consumed);
  const note = `Unsupported operation annotation "${operationValue(reconcile)}"`;
  reconcile.recordEvent({ type: 'Warning', reason: 'UnsupportedOperation', action: clearing, note });
}

export async function dropParkedOperation(reconcile: ServerReconcile): Promise<void> {
  const isPark = reconcile.facts.operation.kind === 'park';
  await patchGuarded(reconcile, consumed);
  const note = `Operation "${operationValue(reconcile)}" dropped because server is parked`;
  if (!isPark) reconcile.recordEvent({ type: 'Warning', reason: 'ParkedOperationDropped', action: clearing, note });
}

export async function rejectRediscovery(reconcile: ServerReconcile): Promise<void> {
  await patchGuarded(reconcile, consumed);
  const state = reconcile.object.status?.state ?? 'Initial';
  const note = `Discovery anew refused because server is in state "${state}"; ask again when it is Available`;
  reconcile.recordEvent({ type: 'Warning', reason: 'RediscoverRefused', action: clearing, note });
}

/** Told once per state; the request stays and is honoured later. */
export async function deferPark(reconcile: ServerReconcile): Promise<void> {
  const state = reconcile.object.status?.state ?? '';
  memoryOf(reconcile).parkDeferredIn = state;
  const note = `Park request deferred because server is in state "${state}"`;
  reconcile.recordEvent({ type: 'Warning', reason: 'ParkDeferred', action: 'DeferPark', note });
}

/** The machine is off: one guarded write marks it and consumes the request. */
export async function park(reconcile: ServerReconcile): Promise<void> {
  await patchGuarded(reconcile, {
    metadata: { annotations: { [operationAnnotation]: null, [parkedAnnotation]: 'true' } },
  });
  reconcile.recordEvent({ type: 'Normal', reason: 'Parked', action: 'PowerOff', note: 'Parked Server, powered off' });
}

export async function unpark(reconcile: ServerReconcile): Promise<void> {
  await patchGuarded(reconcile, {
    metadata: { annotations: { [operationAnnotation]: null, [parkedAnnotation]: null } },
  });
  const memory = memoryOf(reconcile);
  // Somebody had the machine in hand: what was read before is old.
  memory.inventory = undefined;
  memory.reset();
  reconcile.recordEvent({
    type: 'Normal',
    reason: 'Unparking',
    action: 'Unpark',
    note: 'Unpark requested, releasing server',
  });
}

/**
 * Resets the machine at most once per request. The request is taken off the object before the BMC is asked, and a mark
 * stays until the answer is known:
 *
 *   operation ─► operation-under-way ─► BMC ─► done: mark removed
 *                       │                └──► refused: operation put back, tried again later
 *                       └─ process or connection lost ─► OperationUncertain, not repeated
 */
export async function resetMachine(reconcile: ServerReconcile): Promise<void> {
  const { operation } = reconcile.facts;
  if (operation.kind !== 'reset') return;
  const { value, type } = operation;
  const memory = memoryOf(reconcile);
  const uri = await systemUriOf(reconcile);
  // Is it still this machine, and does its BMC answer? Until here nothing has been taken up.
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
    await unmark(reconcile);
    reconcile.recordEvent({
      type: 'Normal',
      reason: 'OperationDone',
      action: value,
      note: `The BMC accepted reset type ${done}`,
    });
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    if (error.code === 'NotSupported') {
      await unmark(reconcile);
      reconcile.recordEvent({ type: 'Warning', reason: 'UnsupportedOperation', action: clearing, note: error.message });
    } else if (isSent && !wasNotApplied(error)) {
      await unmark(reconcile);
      recordUncertainEvent(reconcile, value, error.message);
    } else {
      await putBack(reconcile, value);
      throw error;
    }
  }
}

/** A mark without a process behind it: whoever asked has to look. */
export async function dropInterruptedOperation(reconcile: ServerReconcile): Promise<void> {
  await unmark(reconcile);
  recordUncertainEvent(reconcile, operationValue(reconcile), 'the operator was restarted meanwhile');
}

function recordUncertainEvent(reconcile: ServerReconcile, value: string, why: string): void {
  const note = `Nobody knows whether "${value}" was carried out: ${why}. It is not repeated; look at the machine and ask again`;
  reconcile.recordEvent({ type: 'Warning', reason: 'OperationUncertain', action: clearing, note });
}

/** Not guarded: the object has changed since it was judged, by our own mark at least. */
async function unmark({ object, context }: ServerReconcile): Promise<void> {
  const patch = { metadata: { annotations: { [operationUnderWayAnnotation]: null } } };
  await context.client.mergePatch(Server, { name: object.metadata.name }, patch);
}

/** What a person has asked for since counts instead; and so does the word of another process that found our mark. */
async function putBack({ object, context: { client } }: ServerReconcile, value: string): Promise<void> {
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
