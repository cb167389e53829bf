import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { hostOfServerAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { isSameJson } from '@metal/kube/controller/status-diff.ts';
import type { Kind } from '@metal/kube/kinds/kind.ts';
import type { FirmwareChanges } from '../provisioner/provisioner.ts';
import { markOf, type NativeCaches } from './host-objects.ts';
import { firmwareNameOf } from './native-names.ts';

/** An object that changes settings or firmware of one machine. */
export type FirmwareObject = BIOSSettings | BIOSVersion | BMCVersion | FirmwareVersion;

/** One that the host needs. */
export interface WantedObject {
  readonly kind: Kind<FirmwareObject>;
  readonly name: string;
  /** Without the maintenance policy, which may change with the claim of the machine. */
  readonly spec: object;
  /** The one of this name, whoever created it. */
  readonly found: FirmwareObject | undefined;
}

/** One object for all settings, and one for each component. */
export function wantedObjects(
  host: BareMetalHost,
  { settings, updates }: FirmwareChanges,
  { server, caches }: { readonly server: Server; readonly caches: NativeCaches },
): WantedObject[] {
  const values = Object.entries(settings).map(([name, value]) => [name, String(value)] as const);
  const flow = [{ name: 'host', priority: 1, settings: Object.fromEntries(values) }];
  const name = firmwareNameOf(host);
  const serverRef = { name: server.metadata.name };
  const spec = { version: '', serverRef, settingsFlow: flow };
  const tuning = { kind: BIOSSettings, name, spec, found: caches.biosSettings.get(name) };
  const byComponent = new Map(updates.map(({ component, url }) => [component, url]));
  return [
    ...(values.length === 0 ? [] : [tuning]),
    ...[...byComponent].map(([component, url]) => wantedVersion(host, { component, url }, { server, caches })),
  ];
}

/** Hosts name no version: that of the image is installed once. */
function wantedVersion(
  host: BareMetalHost,
  { component, url: URI }: FirmwareChanges['updates'][number],
  { server, caches }: { readonly server: Server; readonly caches: NativeCaches },
): WantedObject {
  const name = firmwareNameOf(host);
  const serverRef = { name: server.metadata.name };
  const common = { version: '', image: { URI } };
  if (component === 'bios')
    return { kind: BIOSVersion, name, spec: { ...common, serverRef }, found: caches.biosVersions.get(name) };
  if (component === 'bmc') {
    const bmcRef = { name: server.spec.bmcRef?.name ?? '' };
    return { kind: BMCVersion, name, spec: { ...common, bmcRef }, found: caches.bmcVersions.get(name) };
  }
  const own = firmwareNameOf(host, component);
  const spec = { ...common, serverRef, component: selectorOf(component.slice(nicPrefix.length), server) };
  return { kind: FirmwareVersion, name: own, spec, found: caches.firmwareVersions.get(own) };
}

export const nicPrefix = 'nic:';

/** iDRAC has the version in the Id of a member, `Installed-<component>-<version>__<device>`, and so another Id after an update. */
const selectorOf = (adapter: string, { status }: Server): object =>
  /^dell/i.test(status?.manufacturer ?? '') ? { pattern: `Installed-*__${adapter}` } : { id: adapter };

/** Of the Id of a member, or of the pattern for it. */
export const adapterOf = (id: string): string => /^Installed-.*__(.+)$/.exec(id)?.[1] ?? id;

/** Those that the host has, also of former changes. Without a Server, of all. */
export function objectsOfHost(
  host: BareMetalHost,
  server: Server | undefined,
  { biosSettings, biosVersions, bmcVersions, firmwareVersions }: NativeCaches,
): FirmwareObject[] {
  const name = server?.metadata.name;
  const bmcName = server?.spec.bmcRef?.name;
  const found = [
    ...filed(biosSettings, 'server', name),
    ...filed(biosVersions, 'server', name),
    ...filed(bmcVersions, 'bmc', bmcName),
    ...filed(firmwareVersions, 'server', name),
  ];
  return found.filter((object) => isOf(host, object));
}

const filed = <T extends FirmwareObject>(cache: Cache<T>, index: string, name: string | undefined): Iterable<T> =>
  name === undefined ? cache.all() : cache.by(index, name);

export const isOf = (host: BareMetalHost, { metadata }: FirmwareObject): boolean =>
  metadata.annotations?.[hostOfServerAnnotation] === markOf(host);

export const kindOf = ({ kind }: FirmwareObject): Kind<FirmwareObject> =>
  [BIOSSettings, BIOSVersion, BMCVersion, FirmwareVersion].find((known) => known.kind === kind) ?? BIOSSettings;

/** Its spec has all that the host wants. */
export const isAsWanted = ({ spec }: Pick<WantedObject, 'spec'>, { spec: present }: FirmwareObject): boolean =>
  Object.entries(spec).every(([name, value]) => isSameJson(memberOf(present, name), value));

/** It is for another machine, which cannot be changed. */
export const hasOtherTarget = ({ spec }: Pick<WantedObject, 'spec'>, { spec: present }: FirmwareObject): boolean =>
  ['serverRef', 'bmcRef'].some((name) => !isSameJson(memberOf(present, name), memberOf(spec, name)));

function memberOf(spec: object, name: string): unknown {
  const members: Readonly<Record<string, unknown>> = { ...spec };
  return members[name];
}

/** Its controller has seen the present spec, and the machine is as the object says. */
export const isDone = ({ metadata, status }: FirmwareObject): boolean =>
  ['Applied', 'Completed'].includes(status?.state ?? '') && status?.observedGeneration === metadata.generation;

/** A change was sent to the BMC, and has no result yet: neither spec nor object may change. */
export const isUnderWay = ({ status }: FirmwareObject): boolean =>
  (status?.state === 'InProgress' && status.attempt?.sendTime !== undefined) ||
  status?.failure?.holdsMaintenance === true;

/** The published firmware was read after the change, which is part of it then. */
export function isPublished({ status }: FirmwareObject, inventory: ServerInventory | undefined): boolean {
  const doneAt = Date.parse(status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '');
  return Date.parse(inventory?.status?.firmware?.readTime ?? '') > doneAt;
}
