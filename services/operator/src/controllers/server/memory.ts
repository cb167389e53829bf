import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import type { Connection } from '../../bmc-connections/connection.ts';
import type { ObservedSystem } from '../../bmc-connections/observed-state.ts';
import type { OperatorContext } from '../context.ts';
import { reportedHealthOf } from '../health-condition.ts';
import { boundBootOf, reprovisionStarts } from './claim/facts.ts';
import { probeBootOf, probeReportOf } from './discovery/facts.ts';
import { isReported } from './discovery/hardware-facts.ts';

/**
 * Brings what this process remembers of the machine in line with the caches, before facts are read from it. It is the only
 * place of this controller, besides the actions, that writes to the memory.
 */
export function updateMemory(
  server: Server,
  connection: Connection | undefined,
  context: OperatorContext,
): ObservedSystem {
  const { caches, bmcConnections } = context;
  const memory = bmcConnections.observedSystem(server.metadata.uid ?? '');
  // A BMC is Ready at the address it had. Another address may lead to another machine.
  memory.resetIfConnectionChanged(connection);
  if (isHeldInMaintenance(server)) forgetBeforeMaintenance(memory);
  const claimBoot = boundBootOf(server, memory, caches);
  const referenced = caches.bootConfigurations.get(server.spec.bootConfigurationRef ?? '');
  memory.reportedHealth ??= reportedHealthOf(server);
  restorePreparedBoot(server, memory, [probeBootOf(server, context), referenced, claimBoot]);
  if (claimBoot !== undefined && reprovisionStarts(claimBoot, server, memory))
    memory.recordPreparedBoot(claimBoot.metadata.uid ?? '');
  forgetReportedHardware(server, memory, probeReportOf(server, memory, context).inventory?.spec.report);
  return memory;
}

const isHeldInMaintenance = ({ spec, status }: Server): boolean =>
  status?.state === 'Maintenance' && spec.serverMaintenanceRef !== undefined;

/** Parts may be swapped, and a firmware update may change the boot order. */
function forgetBeforeMaintenance(memory: ObservedSystem): void {
  memory.parts = undefined;
  memory.bootOrder = undefined;
}

/** An earlier process prepared a boot and did not see the machine start: `status.pendingBootUID` hands it over. */
export function restorePreparedBoot(
  { status }: Pick<Server, 'status'>,
  memory: ObservedSystem,
  boots: readonly (ServerBootConfiguration | undefined)[],
): void {
  const uid = status?.pendingBootUID;
  if (uid === undefined || memory.preparedBoot?.uid === uid) return;
  if (boots.some((boot) => boot?.metadata.uid === uid)) memory.recordPreparedBoot(uid);
}

/** The status holds the hardware by then: 6 to 18 kB for each server need not be kept twice. The time of reading stays. */
export function forgetReportedHardware(
  server: Server,
  memory: Pick<ObservedSystem, 'inventory'>,
  report: ProbeReport | undefined,
): void {
  const { value, at } = memory.inventory ?? {};
  if (value === undefined || at === undefined) return;
  if (isReported(server, value, report)) memory.inventory = { at };
}
