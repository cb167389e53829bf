import { accountService } from './account-service.ts';
import { attributesOfManager, partOfManager, registries } from './attributes/attribute-resources.ts';
import type { BmcState } from './bmc-state.ts';
import type { Faults } from './faults.ts';
import { reshaped } from './field-shapes.ts';
import { at, collection, root, settingsAt } from './links.ts';
import type { Machine } from './machine.ts';
import type { Resource } from './replies.ts';
import { bootOf, drivesOfChassis, partOfSystem } from './system-parts.ts';
import { updateService } from './update-service.ts';
import { jobResource, taskService } from './update-tasks.ts';

/** Finds the resource at a path; undefined means 404. Resources are built on request, so that a fleet needs little memory. */
export const resourceAt = (bmc: BmcState, path: string): Resource | undefined =>
  reshaped(bmc, path, standardResourceAt(bmc, path));

function standardResourceAt(bmc: BmcState, path: string): Resource | undefined {
  if (path === root) return serviceRoot(bmc);
  if (!path.startsWith(`${root}/`)) return undefined;
  const [area = '', id, ...rest] = path.slice(root.length + 1).split('/');
  switch (area) {
    case 'Systems':
      return systems(bmc, path, id, rest);
    case 'Managers':
      return managers(bmc, path, id, rest);
    case 'Chassis':
      return chassis(bmc, path, id, rest);
    case 'SessionService':
      return sessionService(bmc, path, id, rest);
    case 'AccountService':
      return accountService(bmc, path, id, rest);
    case 'EventService':
      return eventService(bmc, path, id, rest);
    case 'UpdateService':
      return updateService(bmc, path, segments(id, rest));
    case 'TaskService':
      return taskService(bmc, path, segments(id, rest));
    case 'JobService':
      return jobResource(bmc, path);
    case 'Registries':
      return registries(bmc, path);
    default:
      return undefined;
  }
}

const segments = (first: string | undefined, rest: readonly string[]): readonly string[] =>
  first === undefined ? [] : [first, ...rest];

function serviceRoot({ profile, managerUuid, sessionsOffered, faults }: BmcState): Resource {
  const under = (name: string) => at(`${root}/${name}`);
  return {
    '@odata.id': `${root}/`,
    '@odata.type': '#ServiceRoot.v1_17_0.ServiceRoot',
    Id: 'RootService',
    Name: 'Root Service',
    RedfishVersion: '1.17.0',
    ...(faults.anonymous ? {} : { UUID: managerUuid }),
    Vendor: profile.manufacturer,
    Product: profile.bmcModel,
    Systems: under('Systems'),
    Managers: under('Managers'),
    Chassis: under('Chassis'),
    AccountService: under('AccountService'),
    EventService: under('EventService'),
    Tasks: under('TaskService'),
    ...(profile.firmware === undefined ? {} : { UpdateService: under('UpdateService') }),
    Registries: under('Registries'),
    ...(sessionsOffered ? { SessionService: under('SessionService') } : {}),
    Links: sessionsOffered ? { Sessions: under('SessionService/Sessions') } : {},
    ProtocolFeaturesSupported: {
      ExpandQuery: profile.expand
        ? { ExpandAll: true, NoLinks: true, Links: true, Levels: true, MaxLevels: 2 }
        : { ExpandAll: false, NoLinks: false, Links: false, Levels: false },
      SelectQuery: true,
      OnlyMemberQuery: true,
      TopSkipQuery: true,
      FilterQuery: false,
      ExcerptQuery: false,
    },
  };
}

function systems(bmc: BmcState, path: string, id: string | undefined, rest: readonly string[]): Resource | undefined {
  if (id === undefined)
    return collection(
      path,
      bmc.machines.map(({ systemId }) => systemId),
      'ComputerSystem',
    );
  const machine = bmc.machines.find(({ systemId }) => systemId === id);
  if (machine === undefined) return undefined;
  return rest.length === 0 ? systemResource(bmc, machine, path) : partOfSystem(bmc, machine, path, rest);
}

function systemResource(bmc: BmcState, machine: Machine, path: string): Resource {
  const { profile } = bmc;
  const { hardware, power, led } = machine;
  const uuid = bmc.uuidOf(machine);
  const under = (name: string) => at(`${path}/${name}`);
  return {
    '@odata.id': path,
    '@odata.type': '#ComputerSystem.v1_22_0.ComputerSystem',
    Id: machine.systemId,
    Name: 'System',
    SystemType: 'Physical',
    ...(uuid === null ? {} : { UUID: uuid.toUpperCase() }),
    Manufacturer: profile.manufacturer,
    Model: profile.model,
    ...(bmc.faults.anonymous ? {} : { SerialNumber: hardware.serialNumber }),
    SKU: hardware.sku,
    AssetTag: machine.assetTag,
    BiosVersion: machine.biosVersion,
    PowerState: power,
    ...(profile.led === 'LocationIndicatorActive' ? {} : { IndicatorLED: led }),
    ...(profile.led === 'IndicatorLED' ? {} : { LocationIndicatorActive: led !== 'Off' }),
    Status: statusOf(power === 'Off' ? 'Disabled' : 'Enabled', machine.isBroken ? 'Critical' : bmc.faults.health),
    ProcessorSummary: { Count: hardware.processors.length, Model: hardware.processors[0]?.model },
    MemorySummary: { TotalSystemMemoryGiB: hardware.memoryGiB },
    Boot: bootOf(machine, bmc, path),
    Processors: under('Processors'),
    Memory: under('Memory'),
    ...(profile.simpleStorage ? { SimpleStorage: under('SimpleStorage') } : { Storage: under('Storage') }),
    EthernetInterfaces: under('EthernetInterfaces'),
    Bios: under('Bios'),
    ...(machine.virtualMedia === undefined ? {} : { VirtualMedia: under('VirtualMedia') }),
    Links: {
      Chassis: [at(`${root}/Chassis/${profile.chassisId}`)],
      ManagedBy: [at(`${root}/Managers/${profile.managerId}`)],
    },
    Actions: {
      '#ComputerSystem.Reset': {
        target: `${path}/Actions/ComputerSystem.Reset`,
        'ResetType@Redfish.AllowableValues': profile.resetTypes,
      },
    },
    ...(profile.bootBySettings ? { '@Redfish.Settings': settingsAt(`${path}/Settings`) } : {}),
  };
}

function managers(bmc: BmcState, path: string, id: string | undefined, rest: readonly string[]): Resource | undefined {
  const { profile, managerUuid, machine, machines, restartedAt, address, macAddress } = bmc;
  if (id === undefined) return collection(path, [profile.managerId], 'Manager');
  if (id !== profile.managerId) return undefined;
  if (rest.join('/') === 'EthernetInterfaces') return collection(path, ['1'], 'EthernetInterface');
  if (rest.join('/') === 'EthernetInterfaces/1')
    return {
      '@odata.id': path,
      '@odata.type': '#EthernetInterface.v1_12_2.EthernetInterface',
      Id: '1',
      Name: 'Manager Network',
      MACAddress: macAddress,
      IPv4Addresses: [{ Address: address }],
    };
  if (rest.length > 0) return partOfManager(bmc, path);
  const { groups, ...attributes } = attributesOfManager(bmc);
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
    FirmwareVersion: bmc.firmwareVersion,
    LastResetTime: new Date(restartedAt).toISOString().replace(/\.\d+Z$/, 'Z'),
    PowerState: 'On',
    Status: statusOf('Enabled', bmc.faults.managerHealth),
    GraphicalConsole: { ServiceEnabled: true, MaxConcurrentSessions: 4, ConnectTypesSupported: ['KVMIP'] },
    EthernetInterfaces: at(`${path}/EthernetInterfaces`),
    ...attributes,
    Links: {
      ManagerForServers: machines.map(({ systemId }) => at(`${root}/Systems/${systemId}`)),
      ...(groups === undefined ? {} : { Oem: { Dell: { DellAttributes: groups } } }),
    },
    Actions: {
      '#Manager.Reset': {
        target: `${path}/Actions/Manager.Reset`,
        ...(profile.managerResetTypes ? { 'ResetType@Redfish.AllowableValues': managerResetTypes } : {}),
      },
      ...(profile.offersDefaults
        ? {
            '#Manager.ResetToDefaults': {
              target: `${path}/Actions/Manager.ResetToDefaults`,
              'ResetType@Redfish.AllowableValues': defaultsResetTypes,
            },
          }
        : {}),
    },
  };
}

/** Null: the BMC reports no health; undefined: no fault. */
const statusOf = (State: string, health: Faults['health']): Resource =>
  health === null ? { State } : { State, Health: health ?? 'OK', HealthRollup: health ?? 'OK' };

export const defaultsResetTypes: readonly string[] = ['ResetAll', 'PreserveNetworkAndUsers'];
export const managerResetTypes: readonly string[] = ['GracefulRestart', 'ForceRestart'];

function chassis(bmc: BmcState, path: string, id: string | undefined, rest: readonly string[]): Resource | undefined {
  const { profile, machine, machines } = bmc;
  if (id === undefined) return collection(path, [profile.chassisId], 'Chassis');
  if (id !== profile.chassisId || rest.length > 2) return undefined;
  if (rest[0] === 'Drives') return drivesOfChassis(bmc, path, rest[1]);
  if (rest.length > 0) return undefined;
  return {
    '@odata.id': path,
    '@odata.type': '#Chassis.v1_25_0.Chassis',
    Id: id,
    Name: 'Chassis',
    ChassisType: 'RackMount',
    Manufacturer: profile.manufacturer,
    Model: profile.model,
    SerialNumber: machine.hardware.serialNumber,
    PowerState: machine.power,
    Status: { State: 'Enabled', Health: 'OK' },
    ...(profile.drivesUnderStorage || profile.simpleStorage ? {} : { Drives: at(`${path}/Drives`) }),
    Links: {
      ComputerSystems: machines.map(({ systemId }) => at(`${root}/Systems/${systemId}`)),
      ManagedBy: [at(`${root}/Managers/${profile.managerId}`)],
    },
  };
}

function sessionService(
  bmc: BmcState,
  path: string,
  kind: string | undefined,
  rest: readonly string[],
): Resource | undefined {
  if (!bmc.sessionsOffered || rest.length > 1) return undefined;
  if (kind === undefined)
    return {
      '@odata.id': path,
      '@odata.type': '#SessionService.v1_1_9.SessionService',
      Id: 'SessionService',
      Name: 'Session Service',
      ServiceEnabled: true,
      SessionTimeout: Math.round(bmc.profile.sessionIdleMs / 1_000),
      Sessions: at(`${path}/Sessions`),
    };
  if (kind !== 'Sessions') return undefined;
  const [id] = rest;
  if (id === undefined)
    return collection(
      path,
      bmc.sessions.map((session) => session.id),
      'Session',
    );
  const session = bmc.sessions.find((candidate) => candidate.id === id);
  return session && sessionResource(path, session.id, session.username);
}

export const sessionResource = (path: string, id: string, username: string): Resource => ({
  '@odata.id': path,
  '@odata.type': '#Session.v1_7_1.Session',
  Id: id,
  Name: 'User Session',
  UserName: username,
});

function eventService(
  bmc: BmcState,
  path: string,
  kind: string | undefined,
  rest: readonly string[],
): Resource | undefined {
  const [id] = rest;
  if (rest.length > 1) return undefined;
  if (kind === undefined)
    return {
      '@odata.id': path,
      '@odata.type': '#EventService.v1_10_2.EventService',
      Id: 'EventService',
      Name: 'Event Service',
      ServiceEnabled: !bmc.faults.eventsDisabled,
      EventFormatTypes: ['Event', 'MetricReport'],
      Subscriptions: at(`${path}/Subscriptions`),
    };
  if (kind !== 'Subscriptions') return undefined;
  if (id === undefined) return collection(path, [...bmc.subscriptions.keys()], 'EventDestination');
  const subscription = bmc.subscriptions.get(id);
  return (
    subscription && {
      '@odata.id': path,
      '@odata.type': '#EventDestination.v1_15_0.EventDestination',
      Id: id,
      Name: 'Subscription',
      ...subscription,
    }
  );
}
