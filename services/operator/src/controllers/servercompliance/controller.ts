import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BMCSettings } from '@metal/api/v1alpha1/bmc-settings.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import type { WatchSource } from '@metal/kube/controller/definition.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { isSameJson } from '@metal/kube/controller/status-diff.ts';
import { controllerOf, type Kind, type KubeObject } from '@metal/kube/kinds/kind.ts';
import { complianceOf, type Update } from '../../rollouts/update.ts';
import type { OperatorContext } from '../context.ts';
import { complianceActions } from './actions.ts';
import { concernsCompliance, readComplianceFacts } from './facts.ts';
import { complianceReasons } from './reasons.ts';
import { reportCompliance } from './report.ts';
import { complianceTable } from './table.ts';

type NameOf<T> = (object: T) => string | undefined;

function watchOf<T extends KubeObject>(kind: Kind<T>, target: 'server' | 'bmc', nameOf: NameOf<T>) {
  return {
    kind,
    mapToKeys: (object: KubeObject, { caches }: OperatorContext) => {
      // The watch is of this kind.
      const name = nameOf(object as unknown as T) ?? '';
      return target === 'server' ? [name] : caches.servers.by('bmc', name).map(({ metadata }) => metadata.name);
    },
    predicate: (before, after) => !isSameJson(countedAs(before), countedAs(after)),
  } satisfies WatchSource<OperatorContext>;
}

/** What the facts read of an update: the set that owns it, and whether it complies. */
const countedAs = (object: KubeObject | undefined) =>
  // The watches are of updates.
  object && [controllerOf(object)?.uid ?? '', complianceOf(object as unknown as Update)];

export const complianceController = phaseController({
  name: 'servercompliance',
  kind: Server,
  phaseOf: () => 'Watched',
  facts: readComplianceFacts,
  table: complianceTable,
  reasons: complianceReasons,
  actions: complianceActions,
  report: reportCompliance,
  predicate: concernsCompliance,
  watches: [
    watchOf(BIOSSettings, 'server', ({ spec }) => spec.serverRef?.name),
    watchOf(BIOSVersion, 'server', ({ spec }) => spec.serverRef?.name),
    watchOf(FirmwareVersion, 'server', ({ spec }) => spec.serverRef.name),
    watchOf(BMCSettings, 'bmc', ({ spec }) => spec.BMCRef.name),
    watchOf(BMCVersion, 'bmc', ({ spec }) => spec.bmcRef?.name),
  ],
  writes: ['servers/status'],
});
