import type { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import { isUpdatable } from '../../firmware/firmware-changes.ts';
import { type FirmwareComponentState, NotSupported } from '../../provisioner/node-services.ts';
import type { Comparison } from '../../siblings/firmware-status.ts';
import { isSameJson } from '@metal/kube/controller/status-diff.ts';

type Updates = HostFirmwareComponents['spec']['updates'];

/** Compares desired updates with those that the host has started. None started is the same as an empty list. */
export function compareUpdates(
  wanted: Updates,
  started: Updates | undefined,
  found: readonly FirmwareComponentState[] | NotSupported,
): Comparison {
  const isChanged = !isSameJson(wanted, started ?? []);
  if (!isChanged || wanted.length === 0) return { isChanged, problems: [] };
  if (found instanceof NotSupported) return { isChanged, problems: [found.message] };
  const unknown = wanted.filter(({ component }) => !isUpdatable(component));
  return { isChanged, problems: unknown.map(({ component }) => problemOf(component)) };
}

const problemOf = (component: string): string =>
  `component "${component}": expected bios, bmc, or nic: with the name of an adapter`;
