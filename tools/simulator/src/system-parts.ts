import { attributesOf, settingsPlaces, settingsResource } from './attributes/attribute-resources.ts';
import type { BmcState } from './bmc-state.ts';
import { type Dimm, type Disk, type Nic, type Processor, volumeId } from './hardware.ts';
import { at, collection, root } from './links.ts';
import { bootOptions, type Machine, type VirtualMedia } from './machine.ts';
import type { VendorProfile } from './profiles.ts';
import type { Resource } from './replies.ts';
import { mediaId, mediaResource } from './virtual-media.ts';

/** Subresources of a system: `path` is the whole path, `parts` the segments after the system. */
export function partOfSystem(
  bmc: BmcState,
  machine: Machine,
  path: string,
  parts: readonly string[],
): Resource | undefined {
  const [kind = '', id, ...rest] = parts;
  const { hardware } = machine;
  switch (kind) {
    case 'Processors':
      return list(path, hardware.processors, { id, rest, name: 'Processor', show: processorResource });
    case 'Memory':
      return list(path, hardware.dimms, {
        id,
        rest,
        name: 'Memory',
        show: (at, item) => memoryResource(at, item, healthOfDimm(bmc, item)),
      });
    case 'EthernetInterfaces':
      return list(path, hardware.nics, { id, rest, name: 'EthernetInterface', show: nicResource });
    case 'BootOptions':
      return list(
        path,
        Object.keys(bootOptions).map((name) => ({ id: name })),
        { id, rest, name: 'BootOption', show: bootOptionResource },
      );
    case 'Storage':
      return bmc.profile.simpleStorage ? undefined : storage(bmc.profile, machine, path, id, rest);
    case 'SimpleStorage':
      return bmc.profile.simpleStorage ? simpleStorage(hardware.disks, path, id, rest) : undefined;
    case 'Bios':
      return rest.length === 0 ? bios(bmc, machine, path, id) : undefined;
    case 'VirtualMedia':
      return list(path, mediaOf(machine), {
        id,
        rest,
        name: 'VirtualMedia',
        show: (at, { media }) => mediaResource(media, at),
      });
    case 'Settings':
      return bmc.profile.bootBySettings && id === undefined ? futureState(bmc, machine, path) : undefined;
    default:
      return undefined;
  }
}

const mediaOf = ({ virtualMedia }: Machine): { id: string; media: VirtualMedia }[] =>
  virtualMedia === undefined ? [] : [{ id: mediaId, media: virtualMedia }];

interface Listed<T> {
  readonly id: string | undefined;
  readonly rest: readonly string[];
  readonly name: string;
  readonly show: (path: string, item: T) => Resource;
}

function list<T extends { readonly id: string }>(
  path: string,
  items: readonly T[],
  { id, rest, name, show }: Listed<T>,
): Resource | undefined {
  if (rest.length > 0) return undefined;
  if (id === undefined)
    return collection(
      path,
      items.map((item) => item.id),
      name,
    );
  const item = items.find((candidate) => candidate.id === id);
  return item && show(path, item);
}

export function bootOf(machine: Machine, { profile }: BmcState, path: string): Resource {
  const { override, overrideMode, bootOrder } = machine;
  return {
    BootSourceOverrideEnabled: override === undefined ? 'Disabled' : override.isOnce ? 'Once' : 'Continuous',
    BootSourceOverrideTarget: override?.target ?? 'None',
    'BootSourceOverrideTarget@Redfish.AllowableValues': profile.bootTargets,
    ...(profile.bootMode === undefined
      ? {}
      : {
          BootSourceOverrideMode: overrideMode,
          'BootSourceOverrideMode@Redfish.AllowableValues': ['UEFI', 'Legacy'],
        }),
    UefiTargetBootSourceOverride: null,
    ...(profile.bootTargets.includes('UefiHttp') ? { HttpBootUri: override?.httpUri ?? null } : {}),
    BootOrder: bootOrder,
    BootOptions: at(`${path}/BootOptions`),
  };
}

const futureState = (bmc: BmcState, machine: Machine, path: string): Resource => ({
  '@odata.id': path,
  '@odata.type': '#ComputerSystem.v1_22_0.ComputerSystem',
  Id: 'Settings',
  Name: 'Pending settings of the system',
  Boot: bootOf(machine, bmc, path.replace(/\/Settings$/, '')),
});

function bios(bmc: BmcState, machine: Machine, path: string, id: string | undefined): Resource | undefined {
  const { profile, faults } = bmc;
  const place = settingsPlaces(bmc).find((each) => each.machine === machine);
  if (place === undefined) return undefined;
  if (id !== undefined) return place.path === path ? settingsResource(bmc, place) : undefined;
  return {
    '@odata.id': path,
    '@odata.type': '#Bios.v1_2_3.Bios',
    Id: 'Bios',
    Name: 'BIOS',
    ...attributesOf(bmc, place),
    ...(profile.biosReset === 'pending' ? { ResetBiosToDefaultsPending: machine.biosReset !== 'none' } : {}),
    ...(profile.biosReset === undefined || faults.lacksBiosReset
      ? {}
      : { Actions: { '#Bios.ResetBios': { target: `${path}/Actions/Bios.ResetBios` } } }),
  };
}

export const biosResetTaskAt = ({ systemId }: Machine): string => `${root}/TaskService/Tasks/BiosReset-${systemId}`;

/** The task of a BIOS reset, on BMCs that create one: it ends with the next start. */
export function biosResetTask({ machines }: BmcState, path: string): Resource | undefined {
  const machine = machines.find((one) => biosResetTaskAt(one) === path);
  if (machine === undefined) return undefined;
  return {
    '@odata.id': path,
    '@odata.type': '#Task.v1_7_4.Task',
    Id: path.split('/').at(-1),
    Name: 'Reset of the BIOS',
    TaskState: machine.biosReset === 'none' ? 'Completed' : 'Pending',
    TaskStatus: 'OK',
  };
}

function storage(
  profile: VendorProfile,
  machine: Machine,
  path: string,
  id: string | undefined,
  rest: readonly string[],
): Resource | undefined {
  const { storageId, mirrored } = profile;
  const { disks } = machine.hardware;
  if (id === undefined) return collection(path, [storageId], 'Storage');
  if (id !== storageId) return undefined;
  const [kind, part, ...more] = rest;
  const driveAt = (disk: Disk) => driveLink(profile, machine, disk);
  if (kind === undefined) return storageResource(path, id, disks.map(driveAt));
  if (more.length > 0) return undefined;
  if (kind === 'Volumes' && part === undefined) return collection(path, mirrored ? [volumeId] : [], 'Volume');
  if (kind === 'Volumes')
    return mirrored && part === volumeId ? volumeResource(path, disks, disks.map(driveAt)) : undefined;
  const disk = disks.find((candidate) => candidate.id === part);
  const isDrive = kind === 'Drives' && profile.drivesUnderStorage && disk !== undefined;
  return isDrive ? driveResource(path, disk.id, disk) : undefined;
}

/** Drives under the chassis; those of several systems of one chassis have the system in their Id. */
export function drivesOfChassis(
  { profile, machines }: BmcState,
  path: string,
  id: string | undefined,
): Resource | undefined {
  if (profile.drivesUnderStorage || profile.simpleStorage) return undefined;
  const drives = machines.flatMap((machine) =>
    machine.hardware.disks.map((disk) => ({ id: driveId(profile, machine, disk), disk })),
  );
  return list(path, drives, {
    id,
    rest: [],
    name: 'Drive',
    show: (at, drive) => driveResource(at, drive.id, drive.disk),
  });
}

const driveId = ({ systemId }: VendorProfile, machine: Machine, { id }: Disk): string =>
  machine.systemId === systemId ? id : `${machine.systemId}-${id}`;

function driveLink(profile: VendorProfile, machine: Machine, disk: Disk): Resource {
  return profile.drivesUnderStorage
    ? at(`${root}/Systems/${machine.systemId}/Storage/${profile.storageId}/Drives/${disk.id}`)
    : at(`${root}/Chassis/${profile.chassisId}/Drives/${driveId(profile, machine, disk)}`);
}

const storageResource = (path: string, id: string, drives: readonly Resource[]): Resource => ({
  '@odata.id': path,
  '@odata.type': '#Storage.v1_15_1.Storage',
  Id: id,
  Name: id,
  Status: { State: 'Enabled', Health: 'OK' },
  'Drives@odata.count': drives.length,
  Drives: drives,
  Volumes: at(`${path}/Volumes`),
});

const volumeResource = (path: string, disks: readonly Disk[], drives: readonly Resource[]): Resource => ({
  '@odata.id': path,
  '@odata.type': '#Volume.v1_9_0.Volume',
  Id: volumeId,
  Name: 'OS',
  RAIDType: 'RAID1',
  CapacityBytes: disks[0]?.bytes,
  Status: { State: 'Enabled', Health: 'OK' },
  Links: { Drives: drives },
});

const driveResource = (path: string, id: string, disk: Disk): Resource => ({
  '@odata.id': path,
  '@odata.type': '#Drive.v1_18_0.Drive',
  Id: id,
  Name: disk.id,
  MediaType: disk.rotational ? 'HDD' : 'SSD',
  Protocol: 'NVMe',
  DriveFormFactor: 'U2',
  CapacityBytes: disk.bytes,
  Manufacturer: 'Contoso',
  Model: disk.model,
  SerialNumber: disk.serialNumber,
  Status: { State: 'Enabled', Health: 'OK' },
});

function simpleStorage(
  disks: readonly Disk[],
  path: string,
  id: string | undefined,
  rest: readonly string[],
): Resource | undefined {
  if (id === undefined) return collection(path, ['1'], 'SimpleStorage');
  if (id !== '1' || rest.length > 0) return undefined;
  return {
    '@odata.id': path,
    '@odata.type': '#SimpleStorage.v1_3_2.SimpleStorage',
    Id: id,
    Name: 'SATA',
    Status: { State: 'Enabled', Health: 'OK' },
    Devices: disks.map(({ name, model, bytes }) => ({
      Name: name,
      Manufacturer: 'Contoso',
      Model: model,
      CapacityBytes: bytes,
      Status: { State: 'Enabled', Health: 'OK' },
    })),
  };
}

const processorResource = (path: string, item: Processor): Resource => ({
  '@odata.id': path,
  '@odata.type': '#Processor.v1_20_0.Processor',
  Id: item.id,
  Name: item.id,
  Socket: item.id,
  ProcessorType: 'CPU',
  ProcessorArchitecture: 'x86',
  InstructionSet: 'x86-64',
  Manufacturer: item.manufacturer,
  Model: item.model,
  MaxSpeedMHz: item.maxSpeedMHz,
  TotalCores: item.cores,
  TotalThreads: item.threads,
  Status: { State: 'Enabled', Health: 'OK' },
});

const slotOf = ({ id }: Dimm): number => Number(/\d+$/.exec(id)?.[0] ?? 0);

/** A fault of the hardware is one of the second module. */
const healthOfDimm = ({ faults }: BmcState, { id }: Dimm): string => (id === 'DIMM1' ? (faults.health ?? 'OK') : 'OK');

const memoryResource = (path: string, item: Dimm, Health: string): Resource => ({
  '@odata.id': path,
  '@odata.type': '#Memory.v1_20_0.Memory',
  Id: item.id,
  Name: item.id,
  Location: { PartLocation: { ServiceLabel: item.id, LocationType: 'Slot', LocationOrdinalValue: slotOf(item) } },
  MemoryLocation: { Socket: 0, MemoryController: 0, Channel: slotOf(item), Slot: 0 },
  CapacityMiB: item.sizeGiB * 1_024,
  MemoryDeviceType: 'DDR5',
  OperatingSpeedMhz: 4_800,
  Manufacturer: item.manufacturer,
  PartNumber: item.partNumber,
  SerialNumber: item.serialNumber,
  Status: { State: 'Enabled', Health },
});

const nicResource = (path: string, item: Nic): Resource => ({
  '@odata.id': path,
  '@odata.type': '#EthernetInterface.v1_12_2.EthernetInterface',
  Id: item.id,
  Name: item.name,
  MACAddress: item.macAddress.toUpperCase(),
  PermanentMACAddress: item.macAddress.toUpperCase(),
  SpeedMbps: 25_000,
  LinkStatus: item.id === 'NIC.1' ? 'LinkUp' : 'LinkDown',
  Status: { State: 'Enabled', Health: 'OK' },
});

const bootOptionResource = (path: string, { id }: { readonly id: string }): Resource => ({
  '@odata.id': path,
  '@odata.type': '#BootOption.v1_0_6.BootOption',
  Id: id,
  Name: id,
  BootOptionReference: id,
  BootOptionEnabled: true,
  DisplayName: bootOptions[id]?.name,
  UefiDevicePath: bootOptions[id]?.path,
});
