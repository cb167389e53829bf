import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { decommissionOf, isDecommissioned } from '@metal/api/wire/decommission.ts';
import { isInWindow } from '@metal/api/wire/maintenance-window.ts';
import type { OperatorCaches } from '../caches.ts';
import { complianceOf, progressOf, type Update } from './update.ts';

export type UpdateCaches = Pick<
  OperatorCaches,
  'biosSettings' | 'biosVersions' | 'firmwareVersions' | 'bmcSettings' | 'bmcVersions'
>;

/** Updates of the server, and of the BMC that it belongs to. */
export function updatesOf({ metadata, spec }: Server, caches: UpdateCaches): Update[] {
  const bmc = spec.bmcRef?.name;
  return [
    ...caches.biosVersions.by('server', metadata.name),
    ...caches.biosSettings.by('server', metadata.name),
    ...caches.firmwareVersions.by('server', metadata.name),
    ...(bmc === undefined ? [] : [...caches.bmcVersions.by('bmc', bmc), ...caches.bmcSettings.by('bmc', bmc)]),
  ];
}

/** It is in maintenance, or may be at any time: an update of it may begin. */
export const isUnavailable = (server: Server, caches: UpdateCaches): boolean =>
  isInWindow(server) || updatesOf(server, caches).some(mayBegin);

const mayBegin = (update: Update): boolean =>
  progressOf(update) === 'running' && (update.status?.state === 'InProgress' || complianceOf(update) !== 'compliant');

const retiredStates: readonly string[] = ['Decommissioning', 'Decommissioned'];

/** Updates may be created for it: it is neither being deleted nor leaving the fleet. */
export const isInService = (target: Server | BMC): boolean =>
  target.metadata.deletionTimestamp === undefined &&
  !isDecommissioned(target) &&
  decommissionOf(target) === undefined &&
  !retiredStates.includes(target.status?.state ?? '');
