import type { BmcState } from '../bmc-state.ts';
import { at, collection, root, settingsAt } from '../links.ts';
import type { Machine } from '../machine.ts';
import type { Resource } from '../replies.ts';
import { type AttributeSet, registryResource } from './attribute-set.ts';
import { type AttributeState, displayed } from './change-attributes.ts';

/** A settings object: the attributes that can be changed there, and their values. */
export interface SettingsPlace {
  /** Path of the resource with the current values. */
  readonly holder: string;
  /** Path of the object that is changed; the holder itself when it has no settings object. */
  readonly path: string;
  readonly set: AttributeSet;
  /** Undefined: attributes of the manager. */
  readonly machine: Machine | undefined;
  /** Group of attributes of the manager; empty for those of the manager itself. */
  readonly group: string;
}

export const managerPath = ({ profile }: BmcState): string => `${root}/Managers/${profile.managerId}`;

/** Every place where attributes are changed. */
export function settingsPlaces(bmc: BmcState): SettingsPlace[] {
  const { profile, machines } = bmc;
  const ofBios = machines.map((machine) => {
    const holder = `${root}/Systems/${machine.systemId}/Bios`;
    const path = profile.biosSettings === undefined ? holder : `${holder}/${profile.biosSettings}`;
    return { holder, path, set: profile.bios, machine, group: '' };
  });
  const ofManager = Object.entries(profile.managerAttributes).map(([group, set]) => {
    const holder = groupPath(bmc, group);
    return { holder, path: `${holder}/Settings`, set, machine: undefined, group };
  });
  return [...ofBios, ...ofManager];
}

export const placeAt = (bmc: BmcState, path: string): SettingsPlace | undefined =>
  /\/(Bios|Managers)\b/.test(path) ? settingsPlaces(bmc).find((place) => place.path === path) : undefined;

const groupPath = (bmc: BmcState, group: string): string =>
  group === '' ? managerPath(bmc) : `${managerPath(bmc)}/Oem/Dell/DellAttributes/${group}`;

export const stateAt = ({ settings }: BmcState, { machine, set, group }: SettingsPlace): AttributeState =>
  machine === undefined
    ? settings.stateOf(group, set)
    : { current: machine.biosAttributes, pending: machine.pendingBiosAttributes };

/** The properties of a resource with attributes. */
export function attributesOf(bmc: BmcState, place: SettingsPlace): Resource {
  const { profile } = bmc;
  const { current } = stateAt(bmc, place);
  const isDisplayed = place.group !== '';
  return {
    ...(place.set.registryId === undefined ? {} : { AttributeRegistry: place.set.registryId }),
    Attributes: isDisplayed ? displayed(place.set, current) : current,
    ...(place.path === place.holder
      ? {}
      : { '@Redfish.Settings': settingsAt(place.path, applyTimesAt(profile.applyTimes, place)) }),
  };
}

/** A manager applies its attributes at once. */
export const applyTimesAt = (
  applyTimes: readonly string[] | undefined,
  { machine }: SettingsPlace,
): readonly string[] | undefined => (machine === undefined ? applyTimes && ['Immediate'] : applyTimes);

/** The settings object: what waits, or all values where the BMC mirrors them. */
export function settingsResource(bmc: BmcState, place: SettingsPlace): Resource {
  const { profile, faults } = bmc;
  const { current, pending } = stateAt(bmc, place);
  const isMirrored = profile.mirrorsSettings || faults.mirrorsSettings;
  const clear = `${place.path}/Actions/Oem/${clearAction}`;
  return {
    '@odata.id': place.path,
    '@odata.type': place.machine === undefined ? '#Manager.v1_19_0.Manager' : '#Bios.v1_2_3.Bios',
    Id: place.path.split('/').at(-1),
    Name: 'Settings at the next start',
    ...(place.set.registryId === undefined ? {} : { AttributeRegistry: place.set.registryId }),
    Attributes: isMirrored ? { ...current, ...pending } : pending,
    ...(profile.clearsSettings === 'action' && place.machine !== undefined
      ? { Actions: { Oem: { [`#${clearAction}`]: { target: clear } } } }
      : {}),
  };
}

export const clearAction = 'DellManager.ClearPending';

/** Groups of attributes of the manager, its resources and its collections; undefined for another path. */
export function partOfManager(bmc: BmcState, path: string): Resource | undefined {
  const { profile, settings } = bmc;
  const place = settingsPlaces(bmc).find(
    ({ holder, path: at, machine }) => machine === undefined && (holder === path || at === path),
  );
  if (place?.path === path) return settingsResource(bmc, place);
  if (place !== undefined && place.group !== '')
    return {
      '@odata.id': path,
      '@odata.type': '#DellAttributes.v1_0_0.DellAttributes',
      Id: place.group,
      Name: 'OEM attributes',
      ...attributesOf(bmc, place),
    };
  const below = path.slice(managerPath(bmc).length + 1);
  const resource = settings.resourceAt(path) ?? profile.managerResources[below];
  if (resource !== undefined) return { '@odata.id': path, ...resource, ...linksOfCollections(bmc, below, path) };
  return memberOfCollection(bmc, path);
}

function linksOfCollections({ profile }: BmcState, below: string, path: string): Resource {
  const names = Object.keys(profile.managerCollections).filter((name) => name.startsWith(`${below}/`));
  return Object.fromEntries(
    names.map((name) => [name.slice(below.length + 1), at(`${path}/${name.slice(below.length + 1)}`)]),
  );
}

function memberOfCollection(bmc: BmcState, path: string): Resource | undefined {
  for (const [name, type] of Object.entries(bmc.profile.managerCollections)) {
    const list = `${managerPath(bmc)}/${name}`;
    const members = bmc.settings.membersOf(list);
    if (path === list)
      return collection(
        path,
        members.map(({ Id }) => String(Id)),
        type,
      );
    const found = members.find(({ Id }) => path === `${list}/${String(Id)}`);
    if (found !== undefined) return { '@odata.id': path, ...found };
  }
  return undefined;
}

/** What the manager itself shows: attributes, groups, resources. */
export function attributesOfManager(bmc: BmcState): Resource {
  const { profile } = bmc;
  const groups = Object.keys(profile.managerAttributes);
  const own = settingsPlaces(bmc).find(({ machine, group }) => machine === undefined && group === '');
  const named = groups.filter((group) => group !== '').map((group) => at(groupPath(bmc, group)));
  const links = Object.keys(profile.managerResources).filter((name) => !name.includes('/'));
  return {
    ...(own === undefined ? {} : attributesOf(bmc, own)),
    ...Object.fromEntries(links.map((name) => [name, at(`${managerPath(bmc)}/${name}`)])),
    ...(named.length === 0 ? {} : { groups: named }),
  };
}

/** The registries of the BMC: their collection, locators and bodies. */
export function registries(bmc: BmcState, path: string): Resource | undefined {
  const list = `${root}/Registries`;
  const sets = registeredSets(bmc);
  if (path === list) return collection(path, [...sets.keys()], 'MessageRegistryFile');
  const id = path.slice(list.length + 1).replace(/\/body$/, '');
  const set = sets.get(id);
  if (set === undefined) return undefined;
  const isDirect = id === 'BMCAttributeRegistry';
  if (isDirect || path.endsWith('/body'))
    return isDirect === path.endsWith('/body') ? undefined : { '@odata.id': path, ...registryResource(set) };
  const Uri = `${bmc.profile.absoluteRegistryUris ? `https://${bmc.address}` : ''}${path}/body`;
  return {
    '@odata.id': path,
    '@odata.type': '#MessageRegistryFile.v1_1_3.MessageRegistryFile',
    Id: id,
    Name: 'Attribute Registry',
    Registry: id,
    Languages: ['de', 'en'],
    'Languages@odata.count': 2,
    Location: [
      { Language: 'de', Uri: `${path}/de` },
      { Language: 'en', Uri },
    ],
  };
}

/** By identifier. All groups of a manager have one registry. */
function registeredSets({ profile }: BmcState): Map<string, AttributeSet> {
  const sets = new Map<string, AttributeSet>();
  for (const set of [profile.bios, ...Object.values(profile.managerAttributes)]) {
    const { registryId } = set;
    if (registryId === undefined) continue;
    const known = sets.get(registryId)?.attributes ?? [];
    sets.set(registryId, { registryId, attributes: [...known, ...set.attributes] });
  }
  return sets;
}
