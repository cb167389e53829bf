import { root } from './links.ts';

/** Kinds of firmware; images name them as their component. */
export type FirmwareKind = 'BIOS' | 'BMC' | 'NIC' | 'RAID' | 'Drive' | 'PSU' | 'CPLD';

/** One firmware of the machine, as the vendor lists it. */
export interface FirmwarePart {
  readonly kind: FirmwareKind;
  readonly id: string;
  readonly name: string;
  readonly manufacturer: string | undefined;
  /** Of BIOS and BMC: undefined, as it is that of the profile. */
  readonly version: string | undefined;
  readonly softwareId: string | undefined;
  readonly updateable: boolean;
  /** It does not run: a second copy, or one for a rollback. No image is for it. */
  readonly isCopy?: boolean;
  /** Device below the system or chassis, if the BMC relates it. */
  readonly device?: string;
}

/** How the BMC of a vendor updates firmware, as data. From the vendors' Redfish documents. */
export interface FirmwareProfile {
  readonly simpleUpdate: boolean;
  /** Advertised by SimpleUpdate; undefined: none are advertised, and all are accepted. */
  readonly transferProtocols: readonly string[] | undefined;
  readonly multipartUri: string | undefined;
  readonly pushUri: string | undefined;
  /** The body of `pushUri` is a form of the vendor: an image as the body is 404. */
  readonly pushUriIsOfVendor: boolean;
  /** A multipart push without Targets is 400. */
  readonly pushNeedsTargets: boolean;
  /** Values of `@Redfish.OperationApplyTime`; any other is 400, and so are all when there are none. */
  readonly applyTimes: readonly string[];
  /** A POST with If-Match is 412. */
  readonly refusesIfMatch: boolean;
  /**
   * Response to an accepted update. task: 202 with Location and the task. location: 202 with Location alone. taskMonitor: 202 with
   * the task, which names its monitor, and no Location. body: 202 with the task alone. accepted: 202 with Location and a message.
   * monitor: 202 with the absolute URL of the monitor as the Location, and the task.
   */
  readonly accepts: 'task' | 'location' | 'taskMonitor' | 'body' | 'accepted' | 'monitor';
  /** A monitor of a completed task answers with a success message, for `taskMonitor`; the task itself is deleted. */
  readonly taskId: (number: number) => string;
  /** Completed tasks name a job, which goes on. */
  readonly becomesJob: boolean;
  readonly tasksSurviveRestart: boolean;
  /** An update with the apply time Immediate restarts a machine that is on. */
  readonly restartsHost: boolean;
  /**
   * Of the BIOS, NICs, controllers and programmable logic. staged: the task completes, and the next start of the machine flashes. scheduled: the task waits for that start. written: the BMC
   * flashes in the task, and the next start runs the new BIOS.
   */
  readonly bios: 'staged' | 'scheduled' | 'written';
  /** restarts: by itself after the task. waits: for a reset of the manager. */
  readonly bmc: 'restarts' | 'waits';
  /** The entry of a firmware that waits for a reset. */
  readonly staged: (part: FirmwarePart, version: string) => { readonly id: string; readonly name: string };
  readonly parts: readonly FirmwarePart[];
  readonly maxImageBytes: number;
}

const mebibyte = 1024 * 1024;

function part(kind: FirmwareKind, id: string, name: string, more: Partial<FirmwarePart> = {}): FirmwarePart {
  return {
    kind,
    id,
    name,
    manufacturer: undefined,
    version: undefined,
    softwareId: undefined,
    updateable: true,
    ...more,
  };
}

const nic = { manufacturer: 'Intel', version: '22.5.7' };
const copyOf = (version: string) => ({ version, isCopy: true });
const drive = { manufacturer: 'Samsung', version: 'GDC5602Q' };

export const genericFirmware: FirmwareProfile = {
  simpleUpdate: true,
  transferProtocols: ['HTTP', 'HTTPS', 'TFTP', 'SCP'],
  multipartUri: `${root}/UpdateService/update-multipart`,
  pushUri: `${root}/UpdateService/update`,
  pushUriIsOfVendor: false,
  pushNeedsTargets: false,
  applyTimes: ['Immediate', 'OnReset'],
  refusesIfMatch: false,
  accepts: 'task',
  taskId: String,
  becomesJob: false,
  tasksSurviveRestart: false,
  restartsHost: false,
  bios: 'staged',
  bmc: 'waits',
  staged: ({ id, name }) => ({ id: `${id}_staged`, name: `${name} (staged)` }),
  parts: [
    part('BIOS', 'BIOS', 'BIOS', { softwareId: 'contoso-bios' }),
    part('BMC', 'BMC', 'BMC', { softwareId: 'contoso-bmc' }),
    part('NIC', 'NIC1', 'Ethernet Controller E810', { ...nic, softwareId: '8086:159b' }),
    part('RAID', 'RAID1', 'RAID Controller', { manufacturer: 'Broadcom', version: '8.5.1', softwareId: '1000:10e2' }),
    part('Drive', 'Drive0', 'NVMe 1.92TB', { ...drive, softwareId: '144d:a80a' }),
    part('Drive', 'Drive1', 'NVMe 1.92TB', { ...drive, softwareId: '144d:a80a' }),
    part('PSU', 'PSU1', 'Power Supply 1', { manufacturer: 'Delta', version: '00.1B', updateable: false }),
    part('CPLD', 'CPLD', 'System Board CPLD', { version: '5', softwareId: 'contoso-cpld' }),
  ],
  maxImageBytes: 256 * mebibyte,
};

/** iDRAC: `Installed-<component>-<version>__<FQDD>`. */
function dellPart(kind: FirmwareKind, component: string, device: string, name: string, more: Partial<FirmwarePart>) {
  return part(kind, `Installed-${component}-{version}__${device}`, name, {
    manufacturer: 'Dell Inc.',
    softwareId: component,
    ...more,
  });
}

export const dellFirmware: FirmwareProfile = {
  ...genericFirmware,
  transferProtocols: ['HTTP', 'NFS', 'CIFS', 'TFTP', 'HTTPS'],
  multipartUri: `${root}/UpdateService/MultipartUpload`,
  pushUri: `${root}/UpdateService/FirmwareInventory`,
  pushUriIsOfVendor: true,
  refusesIfMatch: true,
  accepts: 'location',
  taskId: (number) => `JID_${String(700_000_000_000 + number)}`,
  tasksSurviveRestart: true,
  restartsHost: true,
  bios: 'scheduled',
  bmc: 'restarts',
  staged: ({ id, name }, version) => ({
    id: id.replace('Installed-', 'Available-').replace('{version}', version),
    name,
  }),
  parts: [
    dellPart('BIOS', '159', 'BIOS.Setup.1-1', 'BIOS', {}),
    dellPart('BMC', '25227', 'iDRAC.Embedded.1-1', 'Integrated Dell Remote Access Controller', {}),
    part('BIOS', 'Previous-159-1.0.4__BIOS.Setup.1-1', 'BIOS', copyOf('1.0.4')),
    dellPart('NIC', '105429', 'NIC.Slot.3-1-1', 'Intel(R) Ethernet 25G 2P E810-XXV Adapter', { ...nic }),
    dellPart('RAID', '111440', 'BOSS.SL.10-1', 'BOSS-N1', { version: '2.1.13.2025' }),
    dellPart('Drive', '113125', 'Disk.Direct.0-0:BOSS.SL.10-1', 'Dell NVMe ISE PM9A3', { version: 'GDC5602Q' }),
    dellPart('PSU', '108255', 'PSU.Slot.1', 'Power Supply.Slot.1', { version: '00.1D.7D' }),
    dellPart('CPLD', '27763', 'CPLD.Embedded.1', 'System CPLD', { version: '1.0.5' }),
  ],
};

export const hpeFirmware: FirmwareProfile = {
  ...genericFirmware,
  transferProtocols: undefined,
  multipartUri: undefined,
  pushUri: '/cgi-bin/uploadFile',
  pushUriIsOfVendor: true,
  applyTimes: [],
  accepts: 'taskMonitor',
  bmc: 'restarts',
  staged: ({ id, name }) => ({ id: `${id}0`, name: `${name} (staged)` }),
  parts: [
    part('BMC', '1', 'iLO 6', { manufacturer: 'HPE' }),
    part('BIOS', '2', 'System ROM', { manufacturer: 'HPE' }),
    part('BIOS', '8', 'Redundant System ROM', { manufacturer: 'HPE', ...copyOf('U54 v1.32') }),
    part('CPLD', '3', 'System Programmable Logic Device', { manufacturer: 'HPE', version: '0x1C' }),
    part('PSU', '4', 'Power Supply Firmware Bay 1', { manufacturer: 'HPE', version: '1.00', updateable: false }),
    part('RAID', '5', 'HPE MR416i-o Gen11', { manufacturer: 'HPE', version: '52.24.3-4948' }),
    part('NIC', '6', 'Intel Eth E810-XXVDA2', { ...nic, softwareId: '8086159b' }),
    part('Drive', '7', 'NVMe SSD', { ...drive, softwareId: 'MO001920KYDNC' }),
  ],
};

export const lenovoFirmware: FirmwareProfile = {
  ...genericFirmware,
  transferProtocols: ['HTTP', 'HTTPS', 'SFTP', 'TFTP'],
  multipartUri: '/mfwupdate',
  pushUri: '/fwupdate',
  applyTimes: [],
  accepts: 'body',
  becomesJob: true,
  tasksSurviveRestart: true,
  staged: ({ id, name }) => ({ id: `${id.replace('-Primary', '')}-Pending`, name: `${name} (pending)` }),
  parts: [
    part('BMC', 'BMC-Primary', 'Firmware:BMC-Primary', { manufacturer: 'Lenovo', softwareId: 'BMC-ESX' }),
    part('BIOS', 'UEFI', 'Firmware:UEFI', { manufacturer: 'Lenovo', softwareId: 'UEFI-ESE' }),
    part('BMC', 'BMC-Backup', 'Firmware:BMC-Backup', { manufacturer: 'Lenovo', ...copyOf('2.90') }),
    part('RAID', 'Slot_4.Bundle', 'RAID 940-8i', { manufacturer: 'Broadcom', version: '52.24.0-4763' }),
    part('NIC', 'Slot_7.Bundle', 'Intel E810-DA2', { ...nic }),
    part('Drive', 'Slot_4.1', 'NVMe SSD', { ...drive }),
    part('PSU', 'PSU1', 'Firmware:PSU1', { manufacturer: 'Lenovo', version: '7.53' }),
    part('CPLD', 'FPGA', 'Firmware:FPGA', { manufacturer: 'Lenovo', version: '3.1.0', updateable: false }),
  ],
};

export const supermicroFirmware: FirmwareProfile = {
  ...genericFirmware,
  transferProtocols: ['HTTP', 'HTTPS', 'TFTP'],
  multipartUri: `${root}/UpdateService/upload`,
  pushUri: undefined,
  pushNeedsTargets: true,
  applyTimes: ['Immediate', 'OnStartUpdateRequest'],
  accepts: 'accepted',
  bios: 'written',
  bmc: 'restarts',
  staged: ({ id, name }) => ({ id: `Staged_${id}`, name: `Staged ${name}` }),
  parts: [
    part('BIOS', 'BIOS', 'BIOS', { manufacturer: 'Supermicro', softwareId: 'B1D91B34' }),
    part('BMC', 'BMC', 'BMC', { manufacturer: 'Supermicro', softwareId: 'B2131B60' }),
    part('BIOS', 'Backup_BIOS', 'BIOS', { manufacturer: 'Supermicro', ...copyOf('1.1') }),
    part('CPLD', 'CPLD_Motherboard', 'Motherboard CPLD', { manufacturer: 'Supermicro', version: 'F1.03.A1' }),
    part('NIC', 'NIC1', 'AOC-S25G-m2S', { manufacturer: 'Supermicro', version: '22.5.7' }),
    part('PSU', 'PowerSupply1', 'PWS-1K23A', { manufacturer: 'Supermicro', version: '1.4', updateable: false }),
    part('Drive', 'Drive_NVMe0', 'NVMe SSD', { ...drive }),
  ],
};

/** AMI MegaRAC. */
export const gigabyteFirmware: FirmwareProfile = {
  ...genericFirmware,
  transferProtocols: ['HTTP', 'HTTPS', 'NFS', 'CIFS'],
  multipartUri: `${root}/UpdateService/upload`,
  pushUri: undefined,
  applyTimes: [],
  accepts: 'monitor',
  bios: 'written',
  bmc: 'restarts',
  staged: ({ id, name }) => ({ id: `${id}_Pending`, name: `${name} pending` }),
  parts: [
    part('BIOS', 'BIOS', 'BIOS Firmware', { manufacturer: 'GIGABYTE' }),
    part('BMC', 'BMC', 'BMC Firmware', { manufacturer: 'GIGABYTE' }),
    part('CPLD', 'MB_CPLD1', 'MB CPLD', { manufacturer: 'GIGABYTE', version: '0x07' }),
    part('NIC', 'NIC_1', 'Intel E810', { ...nic }),
  ],
};
