import type { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { FirmwareComponentState } from '../provisioner/node-services.ts';
import { adapterOf, type FirmwareObject, isDone, isPublished, nicPrefix } from './firmware-objects.ts';

type Known = NonNullable<NonNullable<HostFirmwareComponents['status']>['components']>[number];

/** Published values, with those that the host has set since they were read: the next reading may be half an hour away. */
export function settingsOfHost(
  published: Readonly<Record<string, string>>,
  objects: readonly FirmwareObject[],
  inventory: ServerInventory,
): Record<string, string> {
  const set = objects.filter((object) => isDone(object) && !isPublished(object, inventory));
  const steps = set.flatMap(({ spec }) => ('settingsFlow' in spec ? (spec.settingsFlow ?? []) : []));
  const values = Object.assign({}, ...steps.map(({ settings }) => settings ?? {}));
  return { ...published, ...values };
}

interface History {
  readonly known: readonly Known[];
  readonly objects: readonly FirmwareObject[];
}

/** BIOS, BMC and network adapters. The first version of each is remembered by the status of HostFirmwareComponents. */
export function componentsOfServer(
  { status }: Server,
  { status: published }: ServerInventory,
  { known, objects }: History,
): FirmwareComponentState[] {
  const { biosVersion, bmcVersion, components = [] } = published?.firmware ?? {};
  const found = [
    { component: 'bios', version: status?.biosVersion ?? biosVersion },
    { component: 'bmc', version: status?.bmcVersion ?? bmcVersion },
    ...components.filter(isAdapter).map(({ id, version }) => ({ component: `${nicPrefix}${adapterOf(id)}`, version })),
  ];
  return found.flatMap(({ component, version }) =>
    version === undefined ? [] : [stateOf(component, version, { known, objects })],
  );
}

type Component = NonNullable<NonNullable<ServerInventory['status']>['firmware']>['components'][number];

/** FirmwareInventory does not say what a component is, except by its names. */
const isAdapter = ({ id, name = '', staged, updateable }: Component): boolean =>
  staged !== true && updateable !== false && adapterName.test(`${id} ${name}`.replaceAll(/[_:.-]/g, ' '));

const adapterName = /\b(?:NIC\d*|LOM|eth|ethernet|network|ConnectX|BlueField|NetXtreme|E8\d\d|X[57]\d\d|I350)\b/i;

function stateOf(component: string, currentVersion: string, { known, objects }: History): FirmwareComponentState {
  const before = known.find((one) => one.component === component);
  const update = objects.find((object) => isDone(object) && componentOf(object) === component)?.status;
  const flashedAt = update?.attempt?.installTime;
  return {
    component,
    currentVersion,
    initialVersion: before?.initialVersion ?? currentVersion,
    lastVersionFlashed: flashedAt === undefined ? before?.lastVersionFlashed : currentVersion,
    updatedAt: flashedAt ?? before?.updatedAt,
  };
}

function componentOf({ kind, spec }: FirmwareObject): string | undefined {
  if (kind === 'BIOSVersion') return 'bios';
  if (kind === 'BMCVersion') return 'bmc';
  if (!('component' in spec)) return undefined;
  const { id, pattern = '' } = spec.component;
  return `${nicPrefix}${id ?? adapterOf(pattern)}`;
}
