import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import type { MachineFiles } from './machine-files.ts';

/** The variable SecureBoot under the vendor GUID of the UEFI specification. */
const secureBootVariable = 'firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c';
const attributeBytes = 4;

/** Firmware boot mode and Secure Boot state. */
export async function readBootMode(sys: MachineFiles): Promise<NonNullable<ProbeReport['boot']>> {
  const isUefi = (await sys.names('firmware/efi')).length > 0;
  if (!isUefi) return { mode: 'BIOS', secureBoot: 'unsupported' };
  const value = (await sys.bytes(secureBootVariable))[attributeBytes];
  return { mode: 'UEFI', secureBoot: value === undefined ? 'unsupported' : value === 1 ? 'enabled' : 'disabled' };
}
