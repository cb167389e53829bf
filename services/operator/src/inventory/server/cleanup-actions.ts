import { ErasureReport, waiverName } from '@metal/api/v1alpha1/erasure-report.ts';
import {
  cleanupAttemptAnnotation,
  cleanupModeAnnotation,
  cleanupNeedAnnotation,
  cleanupPreparedAnnotation,
  waiveCleanupAnnotation,
} from '@metal/api/wire/contract.ts';
import { erasureOrderFile } from '@metal/api/wire/erasure.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { clearBootOverride } from '@metal/redfish/boot-override.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import { StaleDecision } from '../../errors.ts';
import { inventoryOf, modeOf, orderOf } from './cleanup-facts.ts';
import { isItsTurn, queueFacts } from './cleanup-queue.ts';
import { memoryOf, onlyTo, patchGuarded, type ServerTurn, systemUriOf, talk } from './machine.ts';
import { prepareBoot } from './probe-boot.ts';

/** The token of a cleanup dies with its boot configuration; a big disk may take days to be overwritten. */
const tokenValidMs = 14 * 24 * 60 * 60_000;

/**
 * Judged and taken in one step, without anything in between: of two turns that both saw the last place, one gets it.
 * The next status write tells it to everybody else.
 */
export async function admitCleanup(turn: ServerTurn): Promise<void> {
  const since = turn.object.status?.cleanup?.neededSince;
  if (since !== undefined && isItsTurn(queueFacts(turn.object, turn.context, turn.context.clock.now())))
    memoryOf(turn).cleanupAdmitted = since;
}

/** What an attempt boots is made as for a discovery, with the order for the agent in its ignition besides. */
export async function prepareCleanupBoot(turn: ServerTurn): Promise<void> {
  const { object, facts, context } = turn;
  const { attempt } = facts.cleanup;
  const neededSince = object.status?.cleanup?.neededSince;
  const inventory = inventoryOf(object, context.caches.inventories.get(object.metadata.name));
  const mode = modeOf(object, context);
  if (inventory === undefined || neededSince === undefined || mode === 'None' || attempt === 0)
    throw new StaleDecision('what is to be erased has changed');
  const order = orderOf(inventory, mode, attempt);
  await prepareBoot(turn, {
    annotations: {
      [cleanupAttemptAnnotation]: String(attempt),
      [cleanupModeAnnotation]: mode,
      [cleanupNeedAnnotation]: neededSince,
      [cleanupPreparedAnnotation]: new Date(context.clock.now()).toISOString(),
    },
    tokenValidMs,
    files: [{ path: erasureOrderFile, text: JSON.stringify(order) }],
  });
}

/** A BMC that does not take this is no reason to keep the server: each network boot sets an override of its own. */
export async function clearOverride(turn: ServerTurn): Promise<void> {
  const uri = await systemUriOf(turn);
  try {
    await talk(turn, (bmc) => clearBootOverride(bmc, uri, onlyTo(turn)));
  } catch (error) {
    if (!(error instanceof RedfishError) || !isRefusal(error)) throw error;
    turn.warn('OverrideMayBeLeft', `The BMC does not clear its one-time boot override: ${error.message}`);
  }
  memoryOf(turn).overrideCleared = true;
}

const isRefusal = ({ code, status }: RedfishError): boolean =>
  code === 'NotSupported' || status === 400 || status === 404 || status === 405 || status === 422;

/**
 * First the record, then the annotation goes: the record is what lets the server go, and whoever comes after a crash in
 * between finds it and goes on. It is named after the need that it is about, so there is one for each.
 */
export async function recordWaiver(turn: ServerTurn): Promise<void> {
  const { object, facts, context } = turn;
  const { cleanup } = object.status ?? {};
  const text = facts.cleanup.waiver;
  if (text === undefined || cleanup?.neededSince === undefined) throw new StaleDecision('there is nothing to waive');
  const { name, uid = '' } = object.metadata;
  const spec: ErasureReport['spec'] = {
    serverRef: { name, uid },
    systemUUID: object.spec.systemUUID.toLowerCase(),
    ...(object.status?.serialNumber === undefined ? {} : { serialNumber: object.status.serialNumber }),
    ...(cleanup.formerClaim === undefined ? {} : { formerClaim: cleanup.formerClaim }),
    attempt: cleanup.attempt ?? cleanup.failedAttempts ?? 0,
    mode: modeOf(object, context),
    receivedTime: new Date(context.clock.now()).toISOString(),
    state: 'Waived',
    message: text,
  };
  try {
    await context.client.create(ErasureReport, { metadata: { name: waiverName(name, cleanup.neededSince) }, spec });
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'AlreadyExists') throw error;
  }
  await patchGuarded(turn, withoutWaiver);
  turn.tell({
    type: 'Warning',
    reason: 'CleanupWaived',
    action: 'WaiveCleanup',
    note: `The disks were not erased, and go to the next claim as they are: ${text}`.slice(0, 1_000),
  });
}

/** Nobody waives beforehand, nor without a word about who and why. */
export async function dropWaiver(turn: ServerTurn): Promise<void> {
  await patchGuarded(turn, withoutWaiver);
  const state = turn.object.status?.state ?? 'Initial';
  turn.warn(
    'WaiverDropped',
    `A cleanup is waived in state Cleanup, or in Error after one, by "who and why"; it was in state ${state}, with "${turn.facts.cleanup.waiver ?? ''}"`,
  );
}

const withoutWaiver = { metadata: { annotations: { [waiveCleanupAnnotation]: null } } };
