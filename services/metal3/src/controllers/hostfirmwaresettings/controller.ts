import { FirmwareSchema } from '@metal/api/metal3/firmware-schema.ts';
import { HostFirmwareSettings } from '@metal/api/metal3/host-firmware-settings.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { keyOf, type KubeObject } from '@metal/kube/kinds/kind.ts';
import { firmwareConditionTypes } from '../../siblings/firmware-status.ts';
import { watchOfHosts } from '../../siblings/host-changes.ts';
import { settingsActions } from './actions.ts';
import { newMemory, readSettingsFacts } from './facts.ts';
import { settingsReasons } from './reasons.ts';
import { reportSettings } from './report.ts';
import { settingsTable } from './table.ts';

export const firmwareSettingsController = phaseController({
  name: 'hostfirmwaresettings',
  kind: HostFirmwareSettings,
  phaseOf: () => 'Present',
  memory: newMemory,
  facts: readSettingsFacts,
  table: settingsTable,
  reasons: settingsReasons,
  actions: settingsActions,
  readOnlyActions: ['readSettings'],
  report: reportSettings,
  conditionTypes: firmwareConditionTypes,
  watches: [
    watchOfHosts(),
    // A deleted schema is created again.
    { kind: FirmwareSchema, mapToKeys: ownersOf, predicate: (_before, after) => after === undefined },
  ],
  writes: ['hostfirmwaresettings/status', 'firmwareschemas'],
});

function ownersOf({ metadata }: KubeObject): string[] {
  const { namespace, ownerReferences = [] } = metadata;
  const owners = ownerReferences.filter(({ kind }) => kind === HostFirmwareSettings.kind);
  return owners.map(({ name }) => keyOf({ namespace, name }));
}
