import { readBiosReset, resetBios as askForReset } from '@metal/redfish/bios.ts';
import { setBootOrder } from '@metal/redfish/boot-override.ts';
import { StaleDecision } from '../../errors.ts';
import { attemptKey, ofThisAttempt } from './cleanup-settings.ts';
import { cutWith, isRefusal, memoryOf, onlyTo, type ServerTurn, systemUriOf, talk } from './machine.ts';

/** Asking again before the next start changes nothing; so nobody needs to know whether it was asked for before. */
export async function resetBios(turn: ServerTurn): Promise<void> {
  const uri = await systemUriOf(turn);
  const requestedTime = new Date(turn.context.clock.now()).toISOString();
  const memory = memoryOf(turn);
  const of = attemptKey(turn.object);
  try {
    const task = await talk(turn, (bmc) => askForReset(bmc, uri, onlyTo(turn)));
    memory.biosReset = { of, order: { requestedTime, task } };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    memory.biosReset = { of, refusal: error.message };
  }
}

/** After the start that the reset takes effect with. */
export async function lookAtBios(turn: ServerTurn): Promise<void> {
  const { bios } = turn.facts.cleanup;
  if (bios.kind !== 'asked') throw new StaleDecision('nothing was asked of the BIOS');
  const uri = await systemUriOf(turn);
  const state = await talk(turn, (bmc) => readBiosReset(bmc, uri, bios.task, { ...onlyTo(turn), ...cutWith(turn) }));
  const memory = memoryOf(turn);
  const before = ofThisAttempt(turn.object, memory.biosReset);
  const at = turn.context.clock.now();
  const since = (before?.refusal === undefined ? before?.seen?.since : undefined) ?? at;
  memory.biosReset = { of: attemptKey(turn.object), order: bios, seen: { at, since, state } };
}

/** What was seen before is out of date: whether the order is as wanted shows at the next look. */
export async function restoreBootOrder(turn: ServerTurn): Promise<void> {
  const { bootOrder } = turn.facts.cleanup;
  if (bootOrder.kind !== 'due' && bootOrder.kind !== 'asked') throw new StaleDecision('the boot order is as wanted');
  const uri = await systemUriOf(turn);
  const memory = memoryOf(turn);
  const of = attemptKey(turn.object);
  const before = ofThisAttempt(turn.object, memory.bootOrderReset);
  const at = turn.context.clock.now();
  const since = (before?.refusal === undefined ? before?.since : undefined) ?? at;
  try {
    const end = await talk(turn, (bmc) => setBootOrder(bmc, uri, bootOrder.devices, onlyTo(turn)));
    memory.bootOrderReset = { of, at, since, isPending: end === 'pending' };
    memory.distrust();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    memory.bootOrderReset = { of, refusal: error.message };
  }
}
