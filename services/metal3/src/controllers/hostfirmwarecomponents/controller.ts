import { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { firmwareConditionTypes } from '../../siblings/firmware-status.ts';
import { watchOfHosts } from '../../siblings/host-changes.ts';
import { componentsActions } from './actions.ts';
import { newMemory, readComponentsFacts } from './facts.ts';
import { componentsReasons } from './reasons.ts';
import { reportComponents } from './report.ts';
import { componentsTable } from './table.ts';

export const firmwareComponentsController = phaseController({
  name: 'hostfirmwarecomponents',
  kind: HostFirmwareComponents,
  phaseOf: () => 'Present',
  memory: newMemory,
  facts: readComponentsFacts,
  table: componentsTable,
  reasons: componentsReasons,
  actions: componentsActions,
  readOnlyActions: ['readComponents'],
  report: reportComponents,
  conditionTypes: firmwareConditionTypes,
  watches: [watchOfHosts()],
  writes: ['hostfirmwarecomponents/status'],
});
