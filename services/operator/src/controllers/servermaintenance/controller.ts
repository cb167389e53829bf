import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { maintenanceFinalizer } from '@metal/api/wire/contract.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { controllerOf, keyOf } from '@metal/kube/kinds/kind.ts';
import type { OperatorContext } from '../context.ts';
import { maintenanceActions } from './actions.ts';
import { type MaintenancePhase, readMaintenanceFacts } from './facts.ts';
import { maintenanceReasons } from './reasons.ts';
import { reportMaintenance } from './report.ts';
import { decideDeletion, maintenanceTable } from './table.ts';
import {
  concernsMaintenances,
  endedFlash,
  leftWindow,
  maintenancesOfUpdate,
  slotSource,
  waitingForLimit,
} from './sources.ts';

/** Runs in the leader only: it alone gives servers to maintenances, which makes the limit of the fleet exact. */
export const maintenanceController = phaseController({
  name: 'servermaintenance',
  kind: ServerMaintenance,
  phaseOf: ({ status }: ServerMaintenance): MaintenancePhase =>
    status?.state === 'InMaintenance' || status?.state === 'Failed' ? status.state : 'Pending',
  failurePhases: ['Failed'],
  facts: readMaintenanceFacts,
  table: maintenanceTable,
  reasons: maintenanceReasons,
  finalizer: maintenanceFinalizer,
  deletion: decideDeletion,
  actions: maintenanceActions,
  report: reportMaintenance,
  progressFields: ['state'],
  changesOwnSpec: true,
  paused: isPaused,
  watches: [
    {
      kind: Server,
      mapToKeys: ({ metadata, spec }: Server, context: OperatorContext) => {
        const ref = spec.serverMaintenanceRef;
        const holder = ref === undefined ? [] : [`${ref.namespace}/${ref.name}`];
        return new Set([...holder, ...maintenancesOf(metadata.name, context)]);
      },
      predicate: concernsMaintenances,
    },
    {
      kind: Server,
      mapToKeys: (_server: Server, context: OperatorContext) => waitingForLimit(context),
      predicate: leftWindow,
    },
    {
      kind: ServerMaintenance,
      // Each change may let another one of the server go first.
      mapToKeys: ({ spec }: ServerMaintenance, context: OperatorContext) =>
        maintenancesOf(spec.serverRef.name, context),
    },
    { kind: ServerBootConfiguration, mapToKeys: ownerOfBoot },
    ...[BIOSVersion, BMCVersion, FirmwareVersion].map((kind) => ({
      kind,
      mapToKeys: maintenancesOfUpdate,
      predicate: endedFlash,
    })),
    {
      kind: ServerClaim,
      mapToKeys: (claim: ServerClaim, context: OperatorContext) => {
        const holding = context.caches.servers.by('claim', keyOf(claim)).map(({ metadata }) => metadata.name);
        const names = new Set([...holding, claim.spec.serverRef?.name ?? '']);
        return [...names].flatMap((name) => maintenancesOf(name, context));
      },
    },
  ],
  sources: slotSource,
  writes: [
    'patch:servermaintenances',
    'servermaintenances/status',
    'patch:servers',
    'patch:serverclaims',
    'serverbootconfigurations',
  ],
});

const maintenancesOf = (server: string, { caches }: OperatorContext): string[] =>
  caches.maintenances.by('server', server).map(keyOf);

function ownerOfBoot(boot: ServerBootConfiguration): string[] {
  const owner = controllerOf(boot);
  return owner?.kind === 'ServerMaintenance' ? [keyOf({ namespace: boot.metadata.namespace, name: owner.name })] : [];
}
