import type { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import { NotSupported } from '../../provisioner/node-services.ts';
import { firmwareStatus, unreadStatus } from '../../siblings/firmware-status.ts';
import type { ComponentsFacts } from './facts.ts';

const reasons = { valid: 'OK', invalid: 'InvalidComponent' };

/** All but `updates`, which the host writes when it starts them. */
export function reportComponents(object: HostFirmwareComponents, facts: ComponentsFacts): StatusReport {
  const { reading, comparison, blocker } = facts;
  if (reading === undefined || blocker !== undefined) return unreadStatus(object, ['components', 'lastUpdated']);
  const components = reading.result instanceof NotSupported ? object.status?.components : reading.result;
  return firmwareStatus(object, { comparison, at: reading.at, fields: { components }, reasons });
}
