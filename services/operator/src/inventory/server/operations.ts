import { operationAnnotation, operationUnderWayAnnotation, parkedAnnotation } from '@metal/api/wire/contract.ts';
import { RedfishError, wasRefused } from '@metal/redfish/errors.ts';
import { resetSystem, type ResetType } from '@metal/redfish/power.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { memoryOf, observe, onlyTo, patchGuarded, type ServerTurn, systemUriOf, talk } from './machine.ts';

const consumed = { metadata: { annotations: { [operationAnnotation]: null } } };

/** Events of v0.7.0 about operations name this action. */
const clearing = 'ClearOperationAnnotation';

/** The request was heard, and what failed before counts no more. */
export async function consumeOperation(turn: ServerTurn): Promise<void> {
  await patchGuarded(turn, consumed);
  memoryOf(turn).startOver();
}

export async function dropUnsupportedOperation(turn: ServerTurn): Promise<void> {
  await patchGuarded(turn, consumed);
  const note = `Unsupported operation annotation "${wordOf(turn)}"`;
  turn.tell({ type: 'Warning', reason: 'UnsupportedOperation', action: clearing, note });
}

export async function dropParkedOperation(turn: ServerTurn): Promise<void> {
  const isPark = turn.facts.operation.kind === 'park';
  await patchGuarded(turn, consumed);
  const note = `Operation "${wordOf(turn)}" dropped because server is parked`;
  if (!isPark) turn.tell({ type: 'Warning', reason: 'ParkedOperationDropped', action: clearing, note });
}

export async function refuseRediscovery(turn: ServerTurn): Promise<void> {
  await patchGuarded(turn, consumed);
  const state = turn.object.status?.state ?? 'Initial';
  const note = `Discovery anew refused because server is in state "${state}"; ask again when it is Available`;
  turn.tell({ type: 'Warning', reason: 'RediscoverRefused', action: clearing, note });
}

/** Told once per state; the request stays and is honoured later. */
export async function deferPark(turn: ServerTurn): Promise<void> {
  const state = turn.object.status?.state ?? '';
  memoryOf(turn).parkDeferredIn = state;
  const note = `Park request deferred because server is in state "${state}"`;
  turn.tell({ type: 'Warning', reason: 'ParkDeferred', action: 'DeferPark', note });
}

/** The machine is off: one guarded write marks it and consumes the request. */
export async function park(turn: ServerTurn): Promise<void> {
  await patchGuarded(turn, {
    metadata: { annotations: { [operationAnnotation]: null, [parkedAnnotation]: 'true' } },
  });
  turn.tell({ type: 'Normal', reason: 'Parked', action: 'PowerOff', note: 'Parked Server, powered off' });
}

export async function unpark(turn: ServerTurn): Promise<void> {
  await patchGuarded(turn, {
    metadata: { annotations: { [operationAnnotation]: null, [parkedAnnotation]: null } },
  });
  const memory = memoryOf(turn);
  // Somebody had the machine in hand: what was read before is old.
  memory.inventory = undefined;
  memory.startOver();
  turn.tell({ type: 'Normal', reason: 'Unparking', action: 'Unpark', note: 'Unpark requested, releasing server' });
}

/**
 * Resets the machine at most once per request. The request is taken off the object before the BMC is asked, and a mark
 * stays until the answer is known:
 *
 *   operation ─► operation-under-way ─► BMC ─► done: mark removed
 *                       │                └──► refused: operation put back, tried again later
 *                       └─ process or connection lost ─► OperationUncertain, not repeated
 */
export async function resetMachine(turn: ServerTurn): Promise<void> {
  const { operation } = turn.facts;
  if (operation.kind !== 'reset') return;
  const { word, type } = operation;
  const memory = memoryOf(turn);
  const uri = await systemUriOf(turn);
  // Is it still this machine, and does its BMC answer? Until here nothing has been taken up.
  await observe(turn);
  memory.operation = word;
  try {
    await patchGuarded(turn, {
      metadata: { annotations: { [operationAnnotation]: null, [operationUnderWayAnnotation]: word } },
    });
    await ask(turn, uri, type, word);
  } finally {
    memory.operation = undefined;
  }
}

async function ask(turn: ServerTurn, uri: string, type: ResetType, word: string): Promise<void> {
  let isSent = false;
  const onSend = () => {
    isSent = true;
  };
  try {
    const done = await talk(turn, (bmc) => resetSystem(bmc, uri, type, { ...onlyTo(turn), onSend }));
    memoryOf(turn).startOver();
    await unmark(turn);
    turn.tell({ type: 'Normal', reason: 'OperationDone', action: word, note: `The BMC accepted reset type ${done}` });
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    if (error.code === 'NotSupported') {
      await unmark(turn);
      turn.tell({ type: 'Warning', reason: 'UnsupportedOperation', action: clearing, note: error.message });
    } else if (isSent && !wasRefused(error)) {
      await unmark(turn);
      tellUncertain(turn, word, error.message);
    } else {
      await putBack(turn, word);
      throw error;
    }
  }
}

/** A mark without a process behind it: whoever asked has to look. */
export async function dropInterruptedOperation(turn: ServerTurn): Promise<void> {
  await unmark(turn);
  tellUncertain(turn, wordOf(turn), 'the operator was restarted meanwhile');
}

function tellUncertain(turn: ServerTurn, word: string, why: string): void {
  const note = `Nobody knows whether "${word}" was carried out: ${why}. It is not repeated; look at the machine and ask again`;
  turn.tell({ type: 'Warning', reason: 'OperationUncertain', action: clearing, note });
}

/** Not guarded: the object has changed since it was judged, by our own mark at least. */
async function unmark({ object, context }: ServerTurn): Promise<void> {
  const patch = { metadata: { annotations: { [operationUnderWayAnnotation]: null } } };
  await context.client.mergePatch(Server, { name: object.metadata.name }, patch);
}

/** What a person has asked for since counts instead; and so does the word of another process that found our mark. */
async function putBack({ object, context: { client } }: ServerTurn, word: string): Promise<void> {
  const { name, uid } = object.metadata;
  const { metadata } = await client.get(Server, { name });
  const { [operationAnnotation]: asked = word, [operationUnderWayAnnotation]: mark } = metadata.annotations ?? {};
  if (metadata.uid !== uid || mark !== word) return;
  const annotations = { [operationUnderWayAnnotation]: null, [operationAnnotation]: asked };
  const { resourceVersion } = metadata;
  await client.mergePatch(Server, { name }, { metadata: { annotations } }, { resourceVersion });
}

function wordOf({ facts: { operation } }: ServerTurn): string {
  return operation.kind === 'none' ? '' : operation.word;
}
