import { fileURLToPath } from 'node:url';
import { cdDevice, diskDevice, type NetworkBoot, nicDevice } from './boot-plan.ts';
import { forwardAddress, isLoopback } from './guest-url.ts';
import {
  dimm,
  nicSlot,
  processorModel,
  processorSpeedMHz,
  type QemuDisk,
  type QemuNic,
  type QemuParts,
} from './parts.ts';
import type { QemuPrograms } from './programs.ts';

export type Accelerator = 'kvm' | 'tcg';

/** Open file descriptors of QEMU. */
export const monitorDescriptor = 3;
export const serialDescriptor = 4;

/** One start of a machine. */
export interface QemuStart {
  readonly programs: QemuPrograms;
  readonly accelerator: Accelerator;
  /** Contains `disk<n>.raw`, `vars.fd` and `serial.log`. */
  readonly directory: string;
  /** Devices that firmware tries, in order. */
  readonly sequence: readonly string[];
  readonly networkBoot: NetworkBoot;
  /** Boot file of DHCP, with the address of the guest's view; undefined for none. */
  readonly bootFile: string | undefined;
  /** Image in the CD drive. */
  readonly medium: string | undefined;
}

/** The program and its arguments. A tap can be opened only in its network namespace. */
export function qemuCommand(parts: QemuParts, start: QemuStart): [string, string[]] {
  const { qemu } = start.programs;
  const args = qemuArguments(parts, start);
  const namespace = parts.nics.find(({ tap }) => tap !== undefined)?.tap?.namespace;
  return namespace === undefined ? [qemu, args] : ['ip', ['netns', 'exec', namespace, qemu, ...args]];
}

/** The command line. Starts halted, so that nothing happens before the monitor is connected. */
export function qemuArguments(parts: QemuParts, start: QemuStart): string[] {
  const { accelerator, directory } = start;
  return [
    ['-S', '-nodefaults', '-no-user-config', '-display', 'none', '-name', parts.serialNumber],
    // Without a screen SeaBIOS and its network ROM use the serial console, as OVMF always does.
    ['-machine', 'q35,graphics=off', '-accel', accelerator],
    ['-cpu', `${accelerator === 'kvm' ? 'host' : 'max'},model-id=${processorModel}`],
    ['-smp', `${parts.cores},sockets=1,cores=${parts.cores},threads=1`, '-m', `${parts.memoryMiB}M`],
    identity(parts),
    firmware(parts, start),
    channels(directory),
    ['-device', 'virtio-rng-pci'],
    network(parts, start),
    parts.disks.flatMap((disk, number) => drive(disk, number, start)),
    cd(start),
    // A device without an index is not booted.
    ['-boot', 'strict=on'],
  ].flat();
}

/** A comma ends a value, unless it is doubled. */
const value = (text: string): string => text.replaceAll(',', ',,');

function identity({ uuid, manufacturer, model, serialNumber, sku, dimmSerialNumber }: QemuParts): string[] {
  const board = `manufacturer=${value(manufacturer)},product=${value(model)},serial=${serialNumber}`;
  return [
    ['-uuid', uuid],
    ['-smbios', `type=1,${board},uuid=${uuid},sku=${sku}`],
    ['-smbios', `type=2,${board}`],
    [
      '-smbios',
      `type=4,manufacturer=QEMU,version=${processorModel},max-speed=${processorSpeedMHz},current-speed=${processorSpeedMHz}`,
    ],
    ['-smbios', `type=17,manufacturer=${dimm.manufacturer},part=${dimm.partNumber},serial=${dimmSerialNumber}`],
  ].flat();
}

function firmware({ firmware: wanted }: QemuParts, { programs, directory, networkBoot }: QemuStart): string[] {
  if (wanted === 'SeaBIOS') return [];
  const flash = (unit: number, file: string, more = '') => [
    '-drive',
    `if=pflash,format=raw,unit=${unit},file=${value(file)}${more}`,
  ];
  // Its drivers for PXE precede those for HTTP, so HTTP is used only without them.
  const withoutPxe = ['4', '6'].flatMap((version) => [
    '-fw_cfg',
    `name=opt/org.tianocore/IPv${version}PXESupport,string=no`,
  ]);
  return [
    flash(0, programs.ovmfCode, ',readonly=on'),
    flash(1, `${directory}/vars.fd`),
    networkBoot === 'http' ? withoutPxe : [],
  ].flat();
}

const channels = (directory: string): string[] =>
  [
    ['-chardev', `socket,id=monitor,fd=${monitorDescriptor}`, '-mon', 'chardev=monitor,mode=control'],
    ['-chardev', `socket,id=serial,fd=${serialDescriptor},logfile=${value(directory)}/serial.log,logappend=on`],
    ['-serial', 'chardev:serial'],
  ].flat();

function network(parts: QemuParts, start: QemuStart): string[] {
  return parts.nics.flatMap((nic, number) => {
    const { sequence, networkBoot } = start;
    // Without its ROM the card needs drivers of the firmware, which only OVMF has.
    const hasNoRom = !nic.rom || (parts.firmware === 'OVMF' && networkBoot === 'http');
    const place = `mac=${nic.macAddress},bus=pcie.0,addr=0x${nicSlot(number)}${hasNoRom ? ',romfile=' : ''}`;
    const device = `virtio-net-pci,id=${nicDevice(number)},netdev=net${number},${place}`;
    return [
      ['-netdev', cable({ id: `net${number}`, tap: nic.tap }, parts, start)],
      ['-device', `${device}${index(nicDevice(number), sequence)}`],
    ].flat();
  });
}

function cable(
  { id, tap }: Pick<QemuNic, 'tap'> & { id: string },
  { reaches }: QemuParts,
  { bootFile }: QemuStart,
): string {
  if (tap !== undefined) return `tap,id=${id},ifname=${tap.name},script=no,downscript=no`;
  const file = bootFile === undefined ? '' : `,bootfile=${value(bootFile)}`;
  return `user,id=${id}${file}${restriction(reaches)}`;
}

const forwarder = fileURLToPath(new URL('forward.ts', import.meta.url));

/** The guest reaches only these addresses; QEMU starts a forwarder for each connection. */
function restriction(reaches: QemuParts['reaches']): string {
  if (reaches === undefined) return '';
  const forwards = reaches.filter(isLoopback).map((url) => {
    const { hostname, port, protocol } = new URL(url);
    const number = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
    const command = `'${process.execPath}' '${forwarder}' ${hostname} ${number}`;
    return `,guestfwd=tcp:${forwardAddress}:${number}-cmd:${value(command)}`;
  });
  return `,restrict=on${[...new Set(forwards)].join('')}`;
}

function drive({ kind, serialNumber, badSector }: QemuDisk, number: number, start: QemuStart): string[] {
  const id = diskDevice(number);
  const image = `${value(start.directory)}/${id}.raw`;
  // Written data survives a kill of QEMU, as it is in the page cache of this host. Discarded blocks read as zeroes.
  const file = `if=none,id=${id}-file,format=raw,cache=unsafe,discard=unmap,${place(image, badSector)}`;
  const model = kind === 'nvme' ? 'nvme' : 'virtio-blk-pci';
  const device = `${model},id=${id},drive=${id}-file,serial=${serialNumber}${index(id, start.sequence)}`;
  return ['-drive', file, '-device', device];
}

/** QEMU's driver for injected disk errors. */
function place(image: string, badSector: number | undefined): string {
  if (badSector === undefined) return `file=${image}`;
  const errors = ['write', 'write-zeroes', 'discard'].flatMap((iotype, rule) =>
    ['event=none', `iotype=${iotype}`, `sector=${badSector}`, 'errno=5'].map(
      (what) => `file.inject-error.${rule}.${what}`,
    ),
  );
  return ['file.driver=blkdebug', 'file.image.driver=file', `file.image.filename=${image}`, ...errors].join(',');
}

function cd({ medium, sequence }: QemuStart): string[] {
  const device = `ide-cd,id=${cdDevice},bus=ide.0${index(cdDevice, sequence)}`;
  if (medium === undefined) return ['-device', device];
  const file = `if=none,id=${cdDevice}-file,media=cdrom,format=raw,readonly=on,file=${value(medium)}`;
  return ['-drive', file, '-device', `${device},drive=${cdDevice}-file`];
}

const index = (device: string, sequence: readonly string[]): string =>
  sequence.includes(device) ? `,bootindex=${sequence.indexOf(device)}` : '';
