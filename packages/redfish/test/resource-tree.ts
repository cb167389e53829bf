const root = '/redfish/v1';
export const systemPath = `${root}/Systems/1`;
const status = { State: 'Enabled', Health: 'OK' };
const link = (path: string) => ({ '@odata.id': path });
const collection = (path: string, ids: string[]) => ({ Members: ids.map((id) => link(`${path}/${id}`)) });

const processor = (Id: string) => ({
  Id,
  ProcessorType: 'CPU',
  ProcessorArchitecture: 'x86',
  InstructionSet: 'x86-64',
  Manufacturer: 'Contoso',
  Model: 'C-9000',
  SerialNumber: `P-${Id}`,
  MaxSpeedMHz: 2_400,
  TotalCores: 32,
  TotalThreads: 64,
  Status: status,
});
const drive = (Name: string) => ({
  Name,
  MediaType: 'SSD',
  DriveFormFactor: 'U2',
  CapacityBytes: 960_197_124_096,
  Manufacturer: 'Fabrikam',
  Model: 'F-1',
  SerialNumber: `F-${Name}`,
  Status: status,
});
const volume = (Name: string) => ({ Name, CapacityBytes: 960_197_124_096, RAIDType: 'RAID1', Status: status });
const ethernetInterface = (Id: string) => ({
  Id,
  Name: `Port ${Id}`,
  MACAddress: `02:00:00:00:00:0${Id}`,
  PermanentMACAddress: `02:00:00:00:00:0${Id}`,
  LinkStatus: 'LinkUp',
  SpeedMbps: 25_000,
  VLAN: { VLANEnable: false },
  Status: status,
  Links: {},
});
const reset = (path: string, type: string) => ({
  target: `${path}/Actions/${type}.Reset`,
  'ResetType@Redfish.AllowableValues': ['On', 'ForceOff', 'GracefulRestart'],
  '@Redfish.ActionInfo': `${path}/ResetActionInfo`,
});

const storage = (Id: string) => {
  const path = `${systemPath}/Storage/${Id}`;
  return {
    [path]: {
      Id,
      Name: `Controller ${Id}`,
      Drives: [link(`${path}/Drives/0`), link(`${path}/Drives/1`)],
      Volumes: link(`${path}/Volumes`),
      Status: status,
    },
    [`${path}/Drives/0`]: drive('0'),
    [`${path}/Drives/1`]: drive('1'),
    [`${path}/Volumes`]: collection(`${path}/Volumes`, ['1', '2']),
    [`${path}/Volumes/1`]: volume('1'),
    [`${path}/Volumes/2`]: volume('2'),
  };
};

/** Every resource of a small machine, with all properties of the schemas. */
export const resourceTree: Readonly<Record<string, object>> = {
  [`${root}/Systems`]: collection(`${root}/Systems`, ['1', '2']),
  [`${root}/Systems/2`]: { UUID: '22222222-0000-4000-8000-000000000002' },
  [systemPath]: {
    SystemType: 'Physical',
    UUID: '11111111-0000-4000-8000-000000000001',
    Manufacturer: 'Contoso',
    Model: 'X1',
    SerialNumber: 'SN1',
    SKU: 'SKU1',
    BiosVersion: '1.2.3',
    PowerState: 'On',
    IndicatorLED: 'Off',
    LocationIndicatorActive: false,
    Status: status,
    ProcessorSummary: { Status: status },
    MemorySummary: { TotalSystemMemoryGiB: 256, Status: status },
    Boot: {
      BootSourceOverrideEnabled: 'Disabled',
      BootSourceOverrideTarget: 'None',
      BootSourceOverrideMode: 'UEFI',
      'BootSourceOverrideTarget@Redfish.AllowableValues': ['None', 'Pxe', 'UefiHttp'],
      HttpBootUri: 'http://boot.internal/',
      UefiTargetBootSourceOverride: 'PciRoot(0x0)',
      BootNext: 'Boot0001',
      BootOrder: ['Boot0001', 'Boot0002'],
    },
    Processors: link(`${systemPath}/Processors`),
    Storage: link(`${systemPath}/Storage`),
    SimpleStorage: link(`${systemPath}/SimpleStorage`),
    EthernetInterfaces: link(`${systemPath}/EthernetInterfaces`),
    Memory: link(`${systemPath}/Memory`),
    NetworkInterfaces: link(`${systemPath}/NetworkInterfaces`),
    Bios: link(`${systemPath}/Bios`),
    Links: { Chassis: [link(`${root}/Chassis/1`)] },
    Actions: { '#ComputerSystem.Reset': reset(systemPath, 'ComputerSystem') },
    '@Redfish.Settings': { SettingsObject: link(`${systemPath}/Settings`) },
  },
  [`${systemPath}/Processors`]: collection(`${systemPath}/Processors`, ['CPU1', 'CPU2']),
  [`${systemPath}/Processors/CPU1`]: processor('CPU1'),
  [`${systemPath}/Processors/CPU2`]: processor('CPU2'),
  [`${systemPath}/EthernetInterfaces`]: collection(`${systemPath}/EthernetInterfaces`, ['1', '2']),
  [`${systemPath}/EthernetInterfaces/1`]: ethernetInterface('1'),
  [`${systemPath}/EthernetInterfaces/2`]: ethernetInterface('2'),
  [`${systemPath}/Storage`]: collection(`${systemPath}/Storage`, ['A', 'B']),
  [`${systemPath}/Memory`]: collection(`${systemPath}/Memory`, []),
  [`${systemPath}/NetworkInterfaces`]: collection(`${systemPath}/NetworkInterfaces`, []),
  [`${root}/Chassis/1`]: {},
  ...storage('A'),
  ...storage('B'),
  [`${systemPath}/SimpleStorage`]: collection(`${systemPath}/SimpleStorage`, []),
  [`${root}/Managers`]: collection(`${root}/Managers`, ['1', '2']),
  [`${root}/Managers/2`]: { UUID: '22222222-0000-4000-8000-00000000000b' },
  [`${root}/Managers/1`]: {
    UUID: '11111111-0000-4000-8000-00000000000b',
    Manufacturer: 'Contoso',
    Model: 'BMC1',
    PartNumber: 'PN1',
    SerialNumber: 'MSN1',
    FirmwareVersion: '3.4',
    PowerState: 'On',
    LastResetTime: '2026-01-01T00:00:00Z',
    Status: status,
    GraphicalConsole: { MaxConcurrentSessions: 4, ConnectTypesSupported: ['KVMIP'] },
    Actions: { '#Manager.Reset': reset(`${root}/Managers/1`, 'Manager') },
  },
};
