import type { RegistrationData } from '../../provisioner/provisioner.ts';
import type { IronicPass } from '../ironic-pass.ts';

/** Why a host cannot be registered until its spec, or the configuration of the operator, changes. */
export function registrationProblem({ access, address, session, options }: IronicPass, data: RegistrationData) {
  const { driver } = address;
  const hasMac = (access.host.spec.bootMACAddress ?? '') !== '';
  if (data.inspection === 'fast' && driver.fastInspect === undefined)
    return 'spec.inspectionMode: the BMC type of spec.bmc.address has no inspection by the BMC alone: use agent, or a redfish address';
  if (data.bootMode === 'UEFISecureBoot' && !driver.hasSecureBoot)
    return 'spec.bootMode: the BMC type of spec.bmc.address has no Secure Boot: use UEFI, or a redfish address';
  if (driver.needsProvisioningNetwork && options.isProvisioningNetworkDisabled)
    return 'spec.bmc.address: the BMC type needs a provisioning network, which PROVISIONING_NETWORK_DISABLED rules out: use one with virtual media';
  if (data.disablePowerOff && !session.api.has('disablePowerOff'))
    return 'spec.disablePowerOff: expected API 1.95 of Ironic (28.0): upgrade Ironic, or remove the field';
  if (!hasMac && driver.needsMac) return 'spec.bootMACAddress: the BMC type of spec.bmc.address needs one: set it';
  if (!hasMac && data.inspection === 'disabled')
    return 'spec.bootMACAddress: without an inspection the address must be given: set it';
  return undefined;
}
