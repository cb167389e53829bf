import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { jitter } from '@metal/kube/runtime/jitter.ts';
import type { OperatorCaches } from '../../caches.ts';
import { serverTarget } from '../../update-engine/targets.ts';
import type { Target } from '../../update-engine/types.ts';
import type { OperatorContext } from '../context.ts';
import { conditionsOf } from '../ready-condition.ts';

export type InventoryPhase = 'Reported';
export type InventoryAction = 'readFirmware';

/** What a reading has to be made for. A change of any makes another one due. */
export interface ReadingKey {
  readonly biosVersion: string | undefined;
  readonly bmcVersion: string | undefined;
}

export interface InventoryFacts {
  readonly isWanted: boolean;
  /** The machine is in a state in which nothing else is done to its firmware, and its BMC can be asked. */
  readonly isReadable: boolean;
  readonly target: Target;
  readonly versions: ReadingKey;
  /** The status is of the present versions, and later than the last update or change of settings. */
  readonly isCurrent: boolean;
  /** Until the next reading, if one is due. */
  readonly dueInMs: number;
}

/** Memory of one inventory. */
export interface InventoryMemory {
  /** When this process noticed that a reading is due. */
  noticedAt: number | undefined;
  /** Of the last attempt, and how many have failed in a row. */
  failedAt: number | undefined;
  failures: number;
}

/** Long after the bring-up, and spread over the fleet. Several changes in one maintenance cause one reading. */
const firstDelayMs = minutes(30);
const nextDelayMs = minutes(15);
const spread = 2 / 3;
const retryMs = minutes(60);
const longestRetryMs = minutes(24 * 60);

const readableStates: readonly (string | undefined)[] = ['Available', 'Reserved', 'Released'];

/** In other states something else is done to the firmware of the machine, or may be. */
export const isReadableState = (server: Server | undefined): boolean => readableStates.includes(server?.status?.state);

export function readInventoryFacts(
  inventory: ServerInventory,
  context: OperatorContext,
  { now, memory }: { readonly now: number; readonly memory: Readonly<InventoryMemory> },
): InventoryFacts {
  return {
    isWanted: context.config.publishesFirmware,
    ...inventoryState(inventory, context),
    dueInMs: dueAt(inventory, memory, now) - now,
  };
}

function dueAt({ metadata: { name }, status }: ServerInventory, memory: InventoryMemory, now: number): number {
  const { noticedAt = now, failedAt, failures } = memory;
  if (failedAt !== undefined)
    return failedAt + jitter(Math.min(retryMs * 2 ** Math.min(failures - 1, 10), longestRetryMs), name);
  return noticedAt + jitter(status?.firmware === undefined ? firstDelayMs : nextDelayMs, name, spread);
}

export function inventoryState(
  { metadata, status }: ServerInventory,
  context: OperatorContext,
): Pick<InventoryFacts, 'isReadable' | 'target' | 'versions' | 'isCurrent'> {
  const { caches } = context;
  const server = caches.servers.get(metadata.name);
  const target = serverTarget(metadata.name, context);
  const { systemURI = '' } = server?.spec ?? {};
  const versions: ReadingKey = {
    biosVersion: server?.status?.biosVersion,
    bmcVersion: target.bmc?.status?.firmwareVersion,
  };
  const { firmware } = status ?? {};
  const isRead = firmware !== undefined && firmware.biosVersion === versions.biosVersion;
  return {
    target,
    versions,
    isReadable: isReadableState(server) && systemURI !== '' && target.blocker === undefined,
    isCurrent:
      isRead &&
      firmware.bmcVersion === versions.bmcVersion &&
      (server === undefined || changedTime(server, caches) < Date.parse(firmware.readTime)),
  };
}

type Updates = Pick<OperatorCaches, 'biosSettings' | 'biosVersions' | 'firmwareVersions' | 'bmcVersions'>;

/** When an update or a change of settings was last completed, in milliseconds. */
function changedTime({ metadata: { name }, spec }: Server, caches: Updates): number {
  const updates = [
    ...caches.biosSettings.by('server', name),
    ...caches.biosVersions.by('server', name),
    ...caches.firmwareVersions.by('server', name),
    ...caches.bmcVersions.by('bmc', spec.bmcRef?.name ?? ''),
  ];
  return Math.max(
    0,
    ...updates.flatMap((update) => {
      const { state, attempt } = update.status ?? {};
      const isApplied = state === 'Applied' || state === 'Completed';
      if (!isApplied || attempt?.acceptTime === undefined) return [];
      const ready = conditionsOf(update).find(({ type }) => type === 'Ready');
      return ready?.status === 'True' ? Date.parse(ready.lastTransitionTime ?? '') || 0 : [];
    }),
  );
}
