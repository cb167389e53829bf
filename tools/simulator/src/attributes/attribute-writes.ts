import type { BmcState } from '../bmc-state.ts';
import { at } from '../links.ts';
import { done, failure, type Reply, type Resource } from '../replies.ts';
import {
  applyTimesAt,
  clearAction,
  managerPath,
  partOfManager,
  placeAt,
  type SettingsPlace,
  settingsPlaces,
  stateAt,
} from './attribute-resources.ts';
import type { AttributeValues } from './attribute-set.ts';
import {
  type AttributeState,
  changed,
  noValues,
  type PendingFate,
  rejected,
  rejectionOf,
} from './change-attributes.ts';

/** Methods besides those that read, of settings objects and of resources of the manager; undefined for another path. */
export function settingsMethods(bmc: BmcState, path: string): readonly string[] | undefined {
  const place = placeAt(bmc, path);
  if (place !== undefined)
    return bmc.profile.clearsSettings === 'delete' && place.path !== place.holder ? ['PATCH', 'DELETE'] : ['PATCH'];
  const below = path.slice(managerPath(bmc).length + 1);
  if (!path.startsWith(`${managerPath(bmc)}/`)) return undefined;
  if (Object.hasOwn(bmc.profile.managerResources, below)) return ['PATCH'];
  return Object.hasOwn(bmc.profile.managerCollections, below) ? ['POST'] : undefined;
}

/** The error for the If-Match of a change of attributes; undefined when the standard decides. */
export function settingsPrecondition(bmc: BmcState, path: string, ifMatch: string | undefined): Reply | undefined {
  const { settingsEtag } = bmc.profile;
  if (settingsEtag === 'checked' || placeAt(bmc, path) === undefined) return undefined;
  if (settingsEtag === 'required' && ifMatch === undefined)
    return failure(428, 'PreconditionRequired', 'an If-Match header is required');
  return settingsEtag === 'rejected' && ifMatch !== undefined
    ? failure(412, 'PreconditionFailed', 'the If-Match header is not understood')
    : undefined;
}

/** Changes attributes, or a resource of the manager; undefined for another path. */
export function patchSettings(bmc: BmcState, path: string, body: Readonly<Record<string, unknown>>): Reply | undefined {
  const place = placeAt(bmc, path);
  if (place !== undefined) return patchAttributes(bmc, place, body);
  const resource = settingsMethods(bmc, path)?.includes('PATCH') === true ? partOfManager(bmc, path) : undefined;
  return resource === undefined ? undefined : patchResource(bmc, path, resource, body);
}

function patchAttributes(bmc: BmcState, place: SettingsPlace, body: Readonly<Record<string, unknown>>): Reply {
  const { Attributes: sent, '@Redfish.SettingsApplyTime': applyTime, ...others } = body;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return failure(400, 'PropertyUnknown', `${unknown} cannot be set here`);
  if (!isObject(sent)) return failure(400, 'PropertyMissing', 'Attributes are missing');
  if (applyTime !== undefined && !isApplyTime(bmc, place, applyTime))
    return failure(400, 'PropertyValueNotInList', 'this apply time is not supported');
  const refused = bmc.board.consume('rejectsAttribute', place.path);
  if (refused !== undefined && Object.hasOwn(sent, refused))
    return rejected('PropertyValueConflict', refused, `the value of ${refused} conflicts with another setting`);
  const state = stateAt(bmc, place);
  const reply = rejectionOf(place.set, state, sent);
  if (reply !== undefined) return reply;
  // Every value is of the type of its attribute.
  replaceState(bmc, place, changed(place.set, state, sent as AttributeValues), fateOf(bmc, place.path));
  return done(bmc.profile.changedStatus);
}

function isApplyTime({ profile }: BmcState, place: SettingsPlace, sent: unknown): boolean {
  const time = isObject(sent) ? sent.ApplyTime : undefined;
  return typeof time === 'string' && applyTimesAt(profile.applyTimes, place)?.includes(time) === true;
}

function fateOf({ board }: BmcState, path: string): PendingFate {
  if (board.consume('dropsPendingSettings', path)) return 'drop';
  return board.consume('keepsPendingSettings', path) ? 'keep' : 'apply';
}

function replaceState(
  { settings }: BmcState,
  { machine, group }: SettingsPlace,
  { current, pending }: AttributeState,
  fate: PendingFate,
): void {
  if (machine === undefined) {
    settings.setState(group, { current, pending });
    settings.fate = fate;
    return;
  }
  machine.biosAttributes = current;
  machine.pendingBiosAttributes = pending;
  machine.pendingFate = fate;
  machine.touch();
}

/** Values that somebody else set for the next start, without a check, and with no fault of their own. */
export function addPending(bmc: BmcState, place: SettingsPlace, values: AttributeValues): void {
  const { current, pending } = stateAt(bmc, place);
  const fate = place.machine === undefined ? bmc.settings.fate : place.machine.pendingFate;
  replaceState(bmc, place, { current, pending: { ...pending, ...values } }, fate);
}

/** Deletes a settings object, which withdraws its values; undefined for another path. */
export function removeSettings(bmc: BmcState, path: string): Reply | undefined {
  const place = placeAt(bmc, path);
  if (place === undefined) return undefined;
  replaceState(bmc, place, { current: stateAt(bmc, place).current, pending: noValues }, 'apply');
  return { status: 204 };
}

/** The action that withdraws pending values, and new members of collections; undefined for another path. */
export function postSettings(bmc: BmcState, path: string, body: unknown): Reply | undefined {
  if (bmc.profile.clearsSettings === 'action' && path.endsWith(`/${clearAction}`)) {
    const place = settingsPlaces(bmc).find(({ path: at }) => path === `${at}/Actions/Oem/${clearAction}`);
    if (place?.machine === undefined) return undefined;
    removeSettings(bmc, place.path);
    return done(bmc.profile.changedStatus);
  }
  const methods = settingsMethods(bmc, path);
  return methods?.includes('POST') === true ? createMember(bmc, path, body) : undefined;
}

function createMember({ settings }: BmcState, path: string, body: unknown): Reply {
  if (!isObject(body)) return failure(400, 'MalformedJSON', 'the body must be a JSON object');
  const Id = String(settings.membersOf(path).length + 1);
  // As the standard demands, a password is not shown.
  const shown = Object.entries(body).map(([name, value]) => [
    name,
    /Password|Passphrase|Key$/.test(name) ? null : value,
  ]);
  settings.addMember(path, { Id, Name: `Member ${Id}`, ...Object.fromEntries(shown) });
  return { status: 201, body: at(`${path}/${Id}`), headers: { location: `${path}/${Id}` } };
}

const readOnly = new Set(['Id', 'Name']);

function patchResource(
  { settings, profile }: BmcState,
  path: string,
  resource: Resource,
  body: Readonly<Record<string, unknown>>,
): Reply {
  for (const [name, value] of Object.entries(body)) {
    if (readOnly.has(name)) return failure(400, 'PropertyNotWritable', `${name} cannot be changed`);
    if (!(name in resource)) return failure(400, 'PropertyUnknown', `${name} is not a property of this resource`);
    if (!isLike(resource[name], value)) return failure(400, 'PropertyValueTypeError', `${name} is of another type`);
  }
  settings.setResource(path, merged(resource, body));
  return done(profile.changedStatus);
}

const isLike = (before: unknown, after: unknown): boolean =>
  typeof before === typeof after && Array.isArray(before) === Array.isArray(after);

const merged = (resource: Resource, body: Readonly<Record<string, unknown>>): Resource => ({
  ...resource,
  ...Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      const before = resource[name];
      if (Array.isArray(before) && Array.isArray(value)) return [name, mergedArray(before, value)];
      return [name, isObject(before) && isObject(value) ? merged(before, value) : value];
    }),
  ),
});

/** In an array `{}` leaves an element as it is and null removes it (DSP0266). */
const mergedArray = (before: readonly unknown[], after: readonly unknown[]): unknown[] =>
  after.map((each, index) => (isEmptyObject(each) ? before[index] : each)).filter((each) => each !== null);

const isEmptyObject = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
