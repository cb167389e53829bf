import type { AdmissionCheck } from '@metal/kube/kinds/admission.ts';
import { isRaidDriver, lacks } from './bmc-address-checks.ts';

const volumes = (list: string): string =>
  `has(object.spec.raid) && has(object.spec.raid.${list}) && object.spec.raid.${list} != null ? object.spec.raid.${list} : []`;

export const raidVariables = {
  hardwareVolumes: volumes('hardwareRAIDVolumes'),
  softwareVolumes: volumes('softwareRAIDVolumes'),
  rootVolumes: 'variables.softwareVolumes.filter(volume, has(volume.rootVolume) && volume.rootVolume)',
};

const hasDisks = '(has(volume.physicalDisks) && volume.physicalDisks.size() > 0)';

export const raidChecks: readonly AdmissionCheck[] = [
  {
    holds: 'variables.hardwareVolumes.size() == 0 || variables.softwareVolumes.size() == 0',
    message: `'spec.raid: expected hardwareRAIDVolumes or softwareRAIDVolumes, found both: empty one of the lists'`,
  },
  {
    holds: `variables.hardwareVolumes.all(volume, !${hasDisks} || (has(volume.controller) && volume.controller != ''))`,
    message: `'spec.raid.hardwareRAIDVolumes: expected a controller for each volume with physicalDisks: set it'`,
  },
  {
    holds: `variables.hardwareVolumes.all(volume, !${hasDisks} || !has(volume.numberOfPhysicalDisks) || volume.numberOfPhysicalDisks == volume.physicalDisks.size())`,
    message: `'spec.raid.hardwareRAIDVolumes: expected numberOfPhysicalDisks to be the number of physicalDisks: remove one of the two'`,
  },
  {
    holds: 'variables.rootVolumes.size() < 2',
    message: `'spec.raid.softwareRAIDVolumes: expected at most one rootVolume, found ' + string(variables.rootVolumes.size())`,
  },
  {
    holds: 'variables.rootVolumes.size() == 0 || !has(object.spec.rootDeviceHints)',
    message: `'spec.rootDeviceHints: expected none, because a software RAID volume is the rootVolume: remove one of the two'`,
  },
  {
    holds: `variables.rootVolumes.all(volume, volume.level == '1')`,
    message: `'spec.raid.softwareRAIDVolumes: expected level 1 for the rootVolume, because machines boot from no other'`,
  },
  {
    holds: `variables.hardwareVolumes.size() == 0 || !${lacks(isRaidDriver)}`,
    message: `'spec.raid.hardwareRAIDVolumes: the BMC type ' + variables.bmcFamily + ' cannot configure RAID: use softwareRAIDVolumes, or an address of Redfish'`,
  },
];
