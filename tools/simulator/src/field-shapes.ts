import { at, root } from './links.ts';
import type { Resource } from './replies.ts';

/** The state of a simulated BMC that shapes depend on. */
export interface ShapedBmc {
  readonly profile: {
    readonly storageId: string;
    readonly resetTypes: readonly string[];
    readonly shape: FieldShape | undefined;
  };
  readonly machines: readonly ShapedMachine[];
  /** The first of its machines. */
  readonly machine: ShapedMachine;
}

interface ShapedMachine {
  readonly systemId: string;
  readonly hardware: {
    readonly serialNumber: string;
    readonly nics: readonly { readonly id: string; readonly macAddress: string }[];
  };
}

/** How the resources of a BMC differ from those of the standard profile. */
export interface FieldShape {
  /** Changes a resource; undefined: the BMC does not have it. `type` is its type without a version, like ComputerSystem. */
  readonly reshape?: (resource: Resource, place: Place) => Resource | undefined;
  /** Further resources, by path. */
  readonly more?: (bmc: ShapedBmc) => Readonly<Record<string, Resource>>;
  /** Paths that answer 500. */
  readonly failing?: readonly string[];
  /** What its systems cannot do, or do not show. */
  readonly lacks?: readonly Missing[];
}

/** uuid: systems report none. override: it is accepted and not shown. memorySummary, serial and so on: not reported. */
export type Missing =
  | 'systems'
  | 'uuid'
  | 'override'
  | 'locator light'
  | 'versions'
  | 'event service'
  | 'manager reset'
  | 'boot order'
  | 'expected parts';

interface Place {
  readonly type: string;
  readonly path: string;
  readonly bmc: ShapedBmc;
}

/** The resource at a path as the shape has it. */
export function reshaped(bmc: ShapedBmc, path: string, plain: Resource | undefined): Resource | undefined {
  const { shape } = bmc.profile;
  if (shape?.failing?.includes(path)) return undefined;
  const resource = plain ?? shape?.more?.(bmc)[path];
  if (resource === undefined || shape?.reshape === undefined) return resource;
  const type = /^#(\w+)/.exec(String(resource['@odata.type']))?.[1] ?? '';
  return shape.reshape(resource, { type, path, bmc });
}

const without = (resource: Resource, ...names: string[]): Resource =>
  Object.fromEntries(Object.entries(resource).filter(([name]) => !names.includes(name)));
const only = (resource: Resource, names: readonly string[]): Resource =>
  Object.fromEntries(Object.entries(resource).filter(([name]) => name.startsWith('@') || names.includes(name)));
const members = (resource: Resource, ...more: string[]): Resource => {
  const known = Array.isArray(resource.Members) ? resource.Members : [];
  const Members = [...more.map(at), ...known];
  return { ...resource, 'Members@odata.count': Members.length, Members };
};
const listOf = (path: string, type: string, ...paths: string[]): Resource =>
  members({ '@odata.id': path, '@odata.type': `#${type}Collection.${type}Collection`, Name: type }, ...paths);
const resetAt = (path: string) => `${path}/Actions/ComputerSystem.Reset`;
const systemPaths = ({ machines }: ShapedBmc) => machines.map(({ systemId }) => `${root}/Systems/${systemId}`);

/** The properties that are left, by type: those that the standard requires, and those that make it a machine. */
const sparseProperties: Readonly<Record<string, readonly string[]>> = {
  ServiceRoot: ['Id', 'Name', 'RedfishVersion', 'Systems', 'Managers', 'AccountService', 'SessionService', 'Links'],
  ComputerSystem: 'Id Name UUID PowerState Actions Processors Memory Storage EthernetInterfaces'.split(' '),
  Manager: ['Id', 'Name'],
  Processor: ['Id', 'Name'],
  Memory: ['Id', 'Name', 'CapacityMiB'],
  Storage: ['Id', 'Name', 'Drives'],
  Drive: ['Id', 'Name'],
  EthernetInterface: ['Id', 'Name', 'MACAddress'],
};

const sparse: FieldShape = {
  lacks: ['override', 'locator light', 'versions', 'event service', 'manager reset', 'boot order'],
  reshape: (resource, { type, path }) => {
    const names = sparseProperties[type];
    const left = names === undefined ? resource : only(resource, names);
    return type === 'ComputerSystem' && 'Actions' in left
      ? { ...left, Actions: { '#ComputerSystem.Reset': { target: resetAt(path) } } }
      : left;
  },
};

/** The manager of an enclosure: it has chassis and no systems. */
const enclosure: FieldShape = {
  lacks: ['systems'],
  reshape: (resource, { type, path }) => {
    if (path.startsWith(`${root}/Systems`)) return undefined;
    return type === 'ServiceRoot' ? without(resource, 'Systems') : resource;
  },
};

/** Nodes of one blade: no UUID, and the serial number of the blade. */
const blade: FieldShape = {
  lacks: ['uuid'],
  reshape: (resource, { type, bmc }) => {
    if (type === 'ServiceRoot') return without(resource, 'UUID');
    if (type !== 'ComputerSystem' || !('UUID' in resource)) return resource;
    return { ...without(resource, 'UUID'), SerialNumber: bmc.machine.hardware.serialNumber };
  },
};

const baseboard = `${root}/Systems/HGX_Baseboard_0`;
const baseboardManager = `${root}/Managers/HGX_BMC_0`;

/** A host with a GPU baseboard, which is listed before it, and whose own manager cannot be read. */
const gpu: FieldShape = {
  failing: [baseboardManager],
  reshape: (resource, { type }) => {
    if (type === 'ComputerSystemCollection') return members(resource, baseboard);
    return type === 'ManagerCollection' ? members(resource, baseboardManager) : resource;
  },
  more: () => ({
    [baseboard]: {
      '@odata.id': baseboard,
      '@odata.type': '#ComputerSystem.v1_22_0.ComputerSystem',
      Id: 'HGX_Baseboard_0',
      Name: 'Baseboard',
      SystemType: 'Physical',
      UUID: '00112233-4455-4677-8899-AABBCCDDEEFF',
      Manufacturer: 'NVIDIA',
      Status: { State: 'Enabled', Health: 'OK' },
      Processors: at(`${baseboard}/Processors`),
    },
    [`${baseboard}/Processors`]: listOf(`${baseboard}/Processors`, 'Processor'),
  }),
};

const card = `${root}/Systems/Bluefield`;

/** A host with a network card that is a computer itself, and offers a reset. */
const dpu: FieldShape = {
  reshape: (resource, { type }) => (type === 'ComputerSystemCollection' ? members(resource, card) : resource),
  more: () => ({
    [card]: {
      '@odata.id': card,
      '@odata.type': '#ComputerSystem.v1_22_0.ComputerSystem',
      Id: 'Bluefield',
      Name: 'Bluefield',
      SystemType: 'DPU',
      UUID: '00112233-4455-4677-8899-AABBCCDDEE00',
      Manufacturer: 'NVIDIA',
      PowerState: 'On',
      Status: { State: 'Enabled', Health: 'OK' },
      Actions: { '#ComputerSystem.Reset': { target: resetAt(card) } },
    },
  }),
};

/** A one-time boot can be set and is not shown. */
const noOverride: FieldShape = {
  lacks: ['override'],
  reshape: (resource) => ('Boot' in resource ? { ...resource, Boot: withoutOverride(resource.Boot) } : resource),
};

const withoutOverride = (boot: unknown): Resource =>
  Object.fromEntries(Object.entries(Object(boot)).filter(([name]) => !name.startsWith('BootSourceOverride')));

/** Reset types are in a resource of their own, which some BMCs do not have. */
const actionInfo = (exists: boolean): FieldShape => ({
  reshape: (resource, { type, path }) =>
    type === 'ComputerSystem' && 'Actions' in resource
      ? {
          ...resource,
          Actions: {
            '#ComputerSystem.Reset': { target: resetAt(path), '@Redfish.ActionInfo': `${path}/ResetActionInfo` },
          },
        }
      : resource,
  more: (bmc) =>
    exists ? Object.fromEntries(systemPaths(bmc).map((path) => [`${path}/ResetActionInfo`, infoAt(path, bmc)])) : {},
});

const infoAt = (path: string, { profile }: ShapedBmc): Resource => ({
  '@odata.id': `${path}/ResetActionInfo`,
  '@odata.type': '#ActionInfo.v1_4_2.ActionInfo',
  Id: 'ResetActionInfo',
  Name: 'Reset Action Info',
  Parameters: [{ Name: 'ResetType', Required: true, DataType: 'String', AllowableValues: profile.resetTypes }],
});

/** What is put in the place of values, by type. */
const emptyValues: Readonly<Record<string, Resource>> = {
  ComputerSystem: {
    Model: '',
    SerialNumber: '',
    BiosVersion: '',
    LocationIndicatorActive: null,
    MemorySummary: { TotalSystemMemoryGiB: 0 },
  },
  Processor: { MaxSpeedMHz: 0, Status: {} },
  Drive: {
    Name: '',
    MediaType: null,
    CapacityBytes: null,
    Manufacturer: '',
    Model: null,
    SerialNumber: '',
  },
  Volume: { RAIDType: null, VolumeType: 'RawDevice' },
  EthernetInterface: { Name: '', PermanentMACAddress: '', LinkStatus: null, SpeedMbps: 0 },
};

const empty: FieldShape = {
  lacks: ['locator light', 'versions'],
  reshape: (resource, { type }) => {
    const values = emptyValues[type];
    if (values === undefined) return resource;
    if (type !== 'ComputerSystem' || !('PowerState' in resource)) return { ...resource, ...values };
    const boot = { BootSourceOverrideMode: null, BootNext: null, UefiTargetBootSourceOverride: '' };
    return { ...resource, ...values, Boot: { ...Object(resource.Boot), ...boot } };
  },
};

/** The cards list their ports as functions, and the system has no Ethernet interfaces. */
const adapters: FieldShape = {
  reshape: (resource, { type, path }) => {
    if (type === 'EthernetInterface' && path.includes('/Systems/')) return undefined;
    if (type === 'EthernetInterfaceCollection' && path.includes('/Systems/')) return undefined;
    if (type !== 'ComputerSystem' || !('PowerState' in resource)) return resource;
    return { ...without(resource, 'EthernetInterfaces'), NetworkInterfaces: at(`${path}/NetworkInterfaces`) };
  },
  more: (bmc) => Object.assign({}, ...bmc.machines.map(cardsOf)),
};

function cardsOf({ systemId, hardware }: ShapedMachine): Record<string, Resource> {
  const cards = `${root}/Systems/${systemId}/NetworkInterfaces`;
  const functions = `${cards}/Slot1/NetworkDeviceFunctions`;
  const card = { '@odata.type': '#NetworkInterface.v1_2_3.NetworkInterface', Id: 'Slot1', Name: 'Slot1' };
  const ports = hardware.nics.map(({ id, macAddress }) => ({
    '@odata.id': `${functions}/${id}`,
    '@odata.type': '#NetworkDeviceFunction.v1_9_2.NetworkDeviceFunction',
    Id: id,
    Name: 'Network Device Function',
    Ethernet: { PermanentMACAddress: macAddress.toUpperCase() },
  }));
  return {
    [cards]: listOf(cards, 'NetworkInterface', `${cards}/Slot1`),
    [`${cards}/Slot1`]: { '@odata.id': `${cards}/Slot1`, ...card, NetworkDeviceFunctions: at(functions) },
    [functions]: listOf(functions, 'NetworkDeviceFunction', ...ports.map((port) => port['@odata.id'])),
    ...Object.fromEntries(ports.map((port) => [port['@odata.id'], port])),
  };
}

/** Empty sockets and bays as parts, a drive linked repeatedly, one name for all interfaces, a VLAN, the card to the BMC. */
const surplus: FieldShape = {
  reshape: (resource, { type, path }) => {
    if (type === 'ProcessorCollection') return members(resource, `${path}/CPU9`);
    if (type === 'EthernetInterfaceCollection' && path.includes('/Systems/'))
      return members(resource, `${path}/ToManager`, `${path}/Vlan`);
    if (type === 'EthernetInterface') return { ...resource, Name: 'Ethernet Interface' };
    if (type !== 'Storage' || !Array.isArray(resource.Drives)) return resource;
    const again = Array.from({ length: 32 }, () => resource.Drives as unknown[]).flat();
    return { ...resource, Drives: [...again, at(`${path}/Drives/Bay.9`)] };
  },
  more: (bmc) => Object.assign({}, ...bmc.machines.map((machine) => surplusOf(machine, bmc.profile))),
};

function surplusOf({ systemId, hardware }: ShapedMachine, profile: ShapedBmc['profile']): Record<string, Resource> {
  const system = `${root}/Systems/${systemId}`;
  const nics = `${system}/EthernetInterfaces`;
  const absent = { Status: { State: 'Absent' } };
  const nic = { '@odata.type': '#EthernetInterface.v1_12_2.EthernetInterface' };
  const made: Record<string, Resource> = {
    [`${system}/Processors/CPU9`]: { '@odata.type': '#Processor.v1_20_0.Processor', Id: 'CPU9', ...absent },
    [`${system}/Storage/${profile.storageId}/Drives/Bay.9`]: {
      '@odata.type': '#Drive.v1_18_0.Drive',
      Id: 'Bay.9',
      Name: 'Bay.9',
      ...absent,
    },
    [`${nics}/ToManager`]: { ...nic, Id: 'ToManager', MACAddress: '02:00:00:00:00:99' },
    [`${nics}/Vlan`]: {
      ...nic,
      Id: 'Vlan',
      MACAddress: hardware.nics[0]?.macAddress,
      VLAN: { VLANEnable: true, VLANId: 7 },
    },
  };
  return Object.fromEntries(Object.entries(made).map(([path, each]) => [path, { '@odata.id': path, ...each }]));
}

/** An event service from before formats existed. */
const oldEvents: FieldShape = {
  reshape: (resource, { type }) => (type === 'EventService' ? without(resource, 'EventFormatTypes') : resource),
};

/** Differences from the standard profile. Each is a shape that captures of real machines have. */
export const fieldQuirks = {
  sparse: { shape: sparse, expand: false, bootMode: undefined, biosReset: undefined },
  'blade-enclosure': { shape: enclosure },
  'cray-blade': { shape: blade, manufacturer: 'HPE', model: 'Cray EX425', systemId: 'Node1', systems: 4 },
  'gpu-baseboard': { shape: gpu, systemId: 'System_0' },
  dpu: { shape: dpu },
  'no-override-target': { shape: noOverride },
  'action-info': { shape: actionInfo(true) },
  'action-info-missing': { shape: actionInfo(false) },
  'empty-names': { shape: empty },
  'network-adapters': { shape: adapters },
  'surplus-parts': { shape: surplus },
  'old-events': { shape: oldEvents, rejectedInSubscription: ['EventFormatType'] },
} as const;
