import type { HostFirmwareSettings } from '@metal/api/metal3/host-firmware-settings.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import { NotSupported } from '../../provisioner/node-services.ts';
import { firmwareStatus, unreadStatus } from '../../siblings/firmware-status.ts';
import type { SettingsFacts } from './facts.ts';

const reasons = { valid: 'Success', invalid: 'ConfigurationError' };

/** Values that were not read for this generation are not reported for it: the host would change the firmware because of them. */
export function reportSettings(object: HostFirmwareSettings, facts: SettingsFacts): StatusReport {
  const { reading, comparison, schemaName: name, blocker } = facts;
  if (reading === undefined || blocker !== undefined || !facts.hasSchema)
    return unreadStatus(object, ['settings', 'schema', 'lastUpdated']);
  const { namespace = '' } = object.metadata;
  const fields =
    reading.result instanceof NotSupported
      ? { settings: object.status?.settings ?? {}, schema: object.status?.schema }
      : { settings: reading.result.settings, schema: name === undefined ? undefined : { name, namespace } };
  return firmwareStatus(object, { comparison, at: reading.at, fields, reasons });
}
