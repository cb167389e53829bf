import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { shardKeyOfServerUpdate } from '../../update-engine/targets.ts';
import type { OperatorContext } from '../context.ts';
import { inventoryActions } from './actions.ts';
import { type InventoryMemory, isReadableState, readInventoryFacts } from './facts.ts';
import { updateMemory } from './memory.ts';
import { inventoryReasons } from './reasons.ts';
import { inventoryTable } from './table.ts';

export const inventoryController = phaseController({
  name: 'serverinventory',
  kind: ServerInventory,
  shardKey: ({ metadata }, context: OperatorContext) => shardKeyOfServerUpdate(metadata.name, context),
  phaseOf: () => 'Reported',
  memory: (): InventoryMemory => ({ noticedAt: undefined, failedAt: undefined, failures: 0 }),
  observe: updateMemory,
  facts: readInventoryFacts,
  table: inventoryTable,
  reasons: inventoryReasons,
  actions: inventoryActions,
  readOnlyActions: ['readFirmware'],
  watches: [
    {
      kind: Server,
      mapToKeys: ({ metadata }: Server) => [metadata.name],
      predicate: concernsReading,
    },
    {
      kind: BMC,
      mapToKeys: ({ metadata }: BMC, context: OperatorContext) => serversOf(metadata.name, context),
      predicate: isAboutFirmware,
    },
    ...[BIOSSettings, BIOSVersion, FirmwareVersion].map((kind) => ({
      kind,
      mapToKeys: ({ spec }: BIOSSettings | BIOSVersion | FirmwareVersion) => [spec.serverRef?.name ?? ''],
      predicate: isAboutFirmware,
    })),
    {
      kind: BMCVersion,
      mapToKeys: ({ spec }: BMCVersion, context: OperatorContext) => serversOf(spec.bmcRef?.name ?? '', context),
      predicate: isAboutFirmware,
    },
  ],
  writes: ['serverinventories/status', 'biosattributeregistries'],
});

const serversOf = (bmcName: string, { caches }: OperatorContext): string[] =>
  caches.servers.by('bmc', bmcName).map(({ metadata }) => metadata.name);

/** Changes of what the facts read of a Server. In another state nothing is read, whatever changes. */
function concernsReading(before: Server | undefined, after: Server | undefined): boolean {
  const isReadable = isReadableState(after);
  return isReadable !== isReadableState(before) || (isReadable && readOf(before) !== readOf(after));
}

const readOf = (server: Server | undefined): string =>
  [server?.status?.biosVersion, server?.spec.systemURI, server?.spec.bmcRef?.name].join('\n');

/** Changes of the state or of a version. */
function isAboutFirmware(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  const [one, other] = [before, after].map((object) => {
    // Of one of the watched kinds, whose statuses have some of these members.
    const { status } = (object ?? {}) as {
      status?: { state?: string; biosVersion?: string; firmwareVersion?: string };
    };
    return [status?.state, status?.biosVersion, status?.firmwareVersion].join('\n');
  });
  return one !== other;
}
