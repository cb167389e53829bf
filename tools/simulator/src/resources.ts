import type { SimulatedBmc } from './bmc.ts';
import type { Machine } from './machine.ts';

/** A Redfish resource, or what the BMC answers in its place. */
export type Resource = Record<string, unknown>;

const root = '/redfish/v1';
const collection = (path: string, members: readonly string[], name: string): Resource => ({
  '@odata.id': path,
  '@odata.type': `#${name}.${name}`,
  Name: name,
  'Members@odata.count': members.length,
  Members: members.map((id) => ({ '@odata.id': `${path}/${id}` })),
});

/** Finds the resource at a path; undefined means 404. Everything is made when it is asked for: a fleet costs little. */
export function resourceAt(bmc: SimulatedBmc, path: string): Resource | undefined {
  const { profile } = bmc;
  const system = `${root}/Systems/${profile.systemId}`;
  const manager = `${root}/Managers/${profile.managerId}`;
  if (path === root) return serviceRoot(bmc);
  if (path === `${root}/Systems`) return collection(path, [profile.systemId], 'ComputerSystemCollection');
  if (path === `${root}/Managers`) return collection(path, [profile.managerId], 'ManagerCollection');
  if (path === `${root}/Chassis`) return collection(path, ['1'], 'ChassisCollection');
  if (path === `${root}/Chassis/1`)
    return {
      '@odata.id': path,
      Id: '1',
      Name: 'Chassis',
      ChassisType: 'RackMount',
      Manufacturer: profile.manufacturer,
      SerialNumber: bmc.machine.hardware.serialNumber,
    };
  if (path === `${root}/SessionService`)
    return {
      '@odata.id': path,
      Id: 'SessionService',
      Name: 'Session Service',
      ServiceEnabled: true,
      SessionTimeout: 1_800,
      Sessions: { '@odata.id': `${path}/Sessions` },
    };
  if (path === `${root}/AccountService`)
    return {
      '@odata.id': path,
      Id: 'AccountService',
      Name: 'Account Service',
      MaxPasswordLength: 30,
      MinPasswordLength: 8,
    };
  if (path === `${root}/EventService`)
    return { '@odata.id': path, Id: 'EventService', Name: 'Event Service', ServiceEnabled: false };
  if (path === manager) return managerResource(bmc, path);
  if (path === system) return systemResource(bmc, path);
  if (path.startsWith(`${system}/`)) return partOfSystem(bmc.machine, system, path.slice(system.length + 1));
  return undefined;
}

function serviceRoot({ profile, managerUuid, sessionsOffered }: SimulatedBmc): Resource {
  const at = (name: string) => ({ '@odata.id': `${root}/${name}` });
  return {
    '@odata.id': `${root}/`,
    '@odata.type': '#ServiceRoot.v1_15_0.ServiceRoot',
    Id: 'RootService',
    Name: 'Root Service',
    RedfishVersion: '1.17.0',
    UUID: managerUuid,
    Vendor: profile.manufacturer,
    Systems: at('Systems'),
    Managers: at('Managers'),
    Chassis: at('Chassis'),
    AccountService: at('AccountService'),
    EventService: at('EventService'),
    ...(sessionsOffered
      ? { SessionService: at('SessionService'), Links: { Sessions: at('SessionService/Sessions') } }
      : {}),
    ...(profile.expand
      ? {
          ProtocolFeaturesSupported: {
            ExpandQuery: { ExpandAll: true, NoLinks: true, Levels: true, MaxLevels: 1, Links: false },
          },
        }
      : {}),
  };
}

function managerResource({ profile, managerUuid, machine }: SimulatedBmc, path: string): Resource {
  return {
    '@odata.id': path,
    '@odata.type': '#Manager.v1_19_0.Manager',
    Id: profile.managerId,
    Name: 'Manager',
    ManagerType: 'BMC',
    UUID: managerUuid,
    Manufacturer: profile.manufacturer,
    Model: profile.bmcModel,
    PartNumber: `${profile.bmcModel.slice(0, 3).toUpperCase()}-001`,
    SerialNumber: `B${machine.hardware.serialNumber}`,
    FirmwareVersion: profile.firmwareVersion,
    PowerState: 'On',
    Status: { State: 'Enabled', Health: 'OK' },
    GraphicalConsole: { ServiceEnabled: true, MaxConcurrentSessions: 4, ConnectTypesSupported: ['KVMIP'] },
    Actions: {
      '#Manager.Reset': {
        target: `${path}/Actions/Manager.Reset`,
        ...(profile.managerResetTypes
          ? { 'ResetType@Redfish.AllowableValues': ['GracefulRestart', 'ForceRestart'] }
          : {}),
      },
    },
  };
}

function systemResource({ profile, machine, faults, led }: SimulatedBmc, path: string): Resource {
  const { hardware, power, override, bootOrder } = machine;
  const uuid = faults.uuid === undefined ? hardware.uuid : faults.uuid;
  const at = (name: string) => ({ '@odata.id': `${path}/${name}` });
  return {
    '@odata.id': path,
    '@odata.type': '#ComputerSystem.v1_22_0.ComputerSystem',
    Id: profile.systemId,
    Name: 'System',
    SystemType: 'Physical',
    ...(uuid === null ? {} : { UUID: uuid.toUpperCase() }),
    Manufacturer: profile.manufacturer,
    Model: profile.model,
    SerialNumber: hardware.serialNumber,
    SKU: hardware.sku,
    BiosVersion: profile.biosVersion,
    PowerState: power,
    ...(profile.led === 'IndicatorLED' ? { IndicatorLED: led } : { LocationIndicatorActive: led !== 'Off' }),
    Status: { State: power === 'Off' ? 'Disabled' : 'Enabled', Health: 'OK' },
    ProcessorSummary: { Count: hardware.processors.length, Model: hardware.processors[0]?.model },
    MemorySummary: { TotalSystemMemoryGiB: hardware.memoryGiB },
    Boot: {
      BootSourceOverrideEnabled: override === undefined ? 'Disabled' : 'Once',
      BootSourceOverrideTarget: override ?? 'None',
      'BootSourceOverrideTarget@Redfish.AllowableValues': ['None', 'Pxe', 'Hdd', 'Cd', 'UefiHttp', 'BiosSetup'],
      ...(profile.bootMode === undefined ? {} : { BootSourceOverrideMode: profile.bootMode }),
      BootOrder: bootOrder,
    },
    Processors: at('Processors'),
    Memory: at('Memory'),
    Storage: at('Storage'),
    EthernetInterfaces: at('EthernetInterfaces'),
    Bios: at('Bios'),
    Actions: {
      '#ComputerSystem.Reset': {
        target: `${path}/Actions/ComputerSystem.Reset`,
        'ResetType@Redfish.AllowableValues': profile.resetTypes,
      },
    },
    ...(profile.bootBySettings
      ? { '@Redfish.Settings': { '@odata.type': '#Settings.v1_3_5.Settings', SettingsObject: at('Settings') } }
      : {}),
  };
}

function partOfSystem(machine: Machine, system: string, part: string): Resource | undefined {
  const { hardware } = machine;
  const [name = '', id, more, ...rest] = part.split('/');
  const path = `${system}/${part}`;
  const find = <T extends { id: string }>(items: readonly T[]) => items.find((item) => item.id === id);
  if (rest.length > 0) return undefined;
  if (part === 'Settings') return { '@odata.id': path, Id: 'Settings', Name: 'Future state', Boot: {} };
  if (part === 'Bios') return { '@odata.id': path, Id: 'Bios', Name: 'BIOS', Attributes: {} };
  if (part === 'Processors')
    return collection(
      path,
      hardware.processors.map((item) => item.id),
      'ProcessorCollection',
    );
  if (part === 'Memory')
    return collection(
      path,
      hardware.dimms.map((item) => item.id),
      'MemoryCollection',
    );
  if (part === 'EthernetInterfaces')
    return collection(
      path,
      hardware.nics.map((item) => item.id),
      'EthernetInterfaceCollection',
    );
  if (part === 'Storage') return collection(path, ['NVMe'], 'StorageCollection');
  if (name === 'Processors' && more === undefined) return processorResource(path, find(hardware.processors));
  if (name === 'Memory' && more === undefined) return memoryResource(path, find(hardware.dimms));
  if (name === 'EthernetInterfaces' && more === undefined) return nicResource(path, find(hardware.nics));
  if (part === 'Storage/NVMe') {
    return {
      '@odata.id': path,
      Id: 'NVMe',
      Name: 'NVMe',
      Status: { State: 'Enabled' },
      Drives: hardware.disks.map((disk) => ({ '@odata.id': `${path}/${disk.id}` })),
      Volumes: { '@odata.id': `${path}/Volumes` },
    };
  }
  if (part === 'Storage/NVMe/Volumes') return collection(path, [], 'VolumeCollection');
  const disk = hardware.disks.find((item) => item.id === more);
  return name === 'Storage' && id === 'NVMe' && disk !== undefined ? diskResource(path, disk) : undefined;
}

const processorResource = (
  path: string,
  item: Machine['hardware']['processors'][number] | undefined,
): Resource | undefined =>
  item && {
    '@odata.id': path,
    Id: item.id,
    Name: item.id,
    ProcessorType: 'CPU',
    ProcessorArchitecture: 'x86',
    InstructionSet: 'x86-64',
    Manufacturer: item.manufacturer,
    Model: item.model,
    MaxSpeedMHz: item.maxSpeedMHz,
    TotalCores: item.cores,
    TotalThreads: item.threads,
    Status: { State: 'Enabled', Health: 'OK' },
  };

const memoryResource = (path: string, item: Machine['hardware']['dimms'][number] | undefined): Resource | undefined =>
  item && {
    '@odata.id': path,
    Id: item.id,
    Name: item.id,
    CapacityMiB: item.sizeGiB * 1_024,
    MemoryDeviceType: 'DDR5',
    SerialNumber: item.serialNumber,
    Status: { State: 'Enabled' },
  };

const nicResource = (path: string, item: Machine['hardware']['nics'][number] | undefined): Resource | undefined =>
  item && {
    '@odata.id': path,
    Id: item.id,
    Name: item.name,
    MACAddress: item.macAddress.toUpperCase(),
    PermanentMACAddress: item.macAddress.toUpperCase(),
    SpeedMbps: 25_000,
    LinkStatus: 'LinkUp',
  };

const diskResource = (path: string, item: Machine['hardware']['disks'][number]): Resource => ({
  '@odata.id': path,
  Id: item.id,
  Name: item.id,
  MediaType: 'SSD',
  Protocol: 'NVMe',
  DriveFormFactor: 'U2',
  CapacityBytes: item.bytes,
  Manufacturer: 'Contoso',
  Model: item.model,
  SerialNumber: item.serialNumber,
  Status: { State: 'Enabled', Health: 'OK' },
});
