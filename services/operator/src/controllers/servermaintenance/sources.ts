import type { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { isAdoptionRequested } from '@metal/api/wire/adoption.ts';
import { isInWindow } from '@metal/api/wire/maintenance-window.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import { parkedAnnotation } from '@metal/api/wire/contract.ts';
import { isSameJson } from '@metal/kube/controller/status-diff.ts';
import { keyOf, type KubeObject } from '@metal/kube/kinds/kind.ts';
import { byPrecedence, isAsking } from '../../maintenance/queue.ts';
import { isFlashing } from '../../update-engine/flashing.ts';
import type { UpdateObject } from '../../update-engine/types.ts';
import type { OperatorContext } from '../context.ts';
import { conditionsOf } from '../ready-condition.ts';

/** Changes of what maintenances are decided by. A server that is idle is written now and then. */
export const concernsMaintenances = (before: Server | undefined, after: Server | undefined): boolean =>
  !isSameJson(before && concerned(before), after && concerned(after));

function concerned(server: Server) {
  const { metadata, spec, status } = server;
  const ready = conditionsOf(server).find(({ type }) => type === 'Ready');
  return {
    deleted: metadata.deletionTimestamp,
    paused: isPaused(server),
    adopting: isAdoptionRequested(server),
    parked: metadata.annotations?.[parkedAnnotation] !== undefined,
    uuid: spec.systemUUID,
    refs: [spec.serverMaintenanceRef, spec.maintenanceBootConfigurationRef, spec.serverClaimRef],
    state: status?.state,
    attempt: status?.cleanup?.attempt,
    ready: [ready?.status, ready?.reason],
  };
}

/** The limit of the fleet lets another server in. */
export const leftWindow = (before: Server | undefined, after: Server | undefined): boolean =>
  before !== undefined && isInWindow(before) && (after === undefined || !isInWindow(after));

/** Those that wait for the limit, in the order of the queue. */
export function waitingForLimit({ caches, maintenanceSlots }: OperatorContext): string[] {
  if (maintenanceSlots.limit === 0) return [];
  const isWaiting = (one: ServerMaintenance) =>
    isAsking(one) && conditionsOf(one).some(({ reason }) => reason === 'FleetLimitReached');
  return [...caches.maintenances.all()].filter(isWaiting).toSorted(byPrecedence).map(keyOf);
}

/** Enqueues them when a slot was not used. */
export const slotSource = (context: OperatorContext, enqueue: (key: string) => void): Disposable =>
  context.maintenanceSlots.returned.on(() => waitingForLimit(context).forEach(enqueue));

/** Those that the update owns, and the one that it names. */
export function maintenancesOfUpdate({ metadata, spec }: UpdateObject, { caches }: OperatorContext): string[] {
  const owned = caches.maintenances.by('owner', metadata.uid ?? '').map(keyOf);
  return spec.serverMaintenanceRef === undefined ? owned : [...owned, keyOf(spec.serverMaintenanceRef)];
}

/** BIOSVersion, BMCVersion and FirmwareVersion have the same status. */
type Version = Pick<BIOSVersion, 'status'>;

/** A flash has ended, its controller is done with the update, or that does not exist any more. */
export const endedFlash = (before: KubeObject | undefined, after: KubeObject | undefined): boolean =>
  before !== undefined &&
  isFlashing(before as Version) &&
  (after === undefined || !isFlashing(after as Version) || after.metadata.deletionTimestamp !== undefined);
