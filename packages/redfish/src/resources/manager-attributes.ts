import * as z from 'zod';
import type { Bmc, CallOptions } from '../http/bmc.ts';
import { RedfishError } from '../errors.ts';
import { anything, entries, part, text } from '../fields.ts';
import { attributeSettings, reference } from '../schemas.ts';
import { pathOf } from '../endpoint.ts';
import { attributesIn } from './attribute-registry.ts';
import {
  type AttributeChange,
  type AttributeRegistry,
  compareAttributes,
  type CompareOptions,
  type Problem,
} from './attributes.ts';
import { findManager } from './managers.ts';
import { unknownName } from './nearest-name.ts';
import { readRegistry } from './registries.ts';
import { type AttributeHolder, patchAttributes, pendingOf, readSettingsObject } from './settings-object.ts';

const holderShape = {
  Attributes: anything,
  AttributeRegistry: text,
  '@Redfish.Settings': attributeSettings,
};
const attributeGroup = z.object(holderShape);
const manager = z.object({
  ...holderShape,
  FirmwareVersion: text,
  Links: part({ Oem: part({ Dell: part({ DellAttributes: entries }) }) }),
});

/** More than any manager has; iDRAC has three. */
const maxGroups = 32;

/** Attributes that an iDRAC applies with its own restart and does not define in its registry. */
const appliedByRestart: ReadonlySet<string> = new Set([
  'SysLog.1.SysLogEnable',
  'NTPConfigGroup.1.NTPEnable',
  'NTPConfigGroup.1.NTP1',
  'NTPConfigGroup.1.NTP2',
  'SNMP.1.AgentEnable',
  'SNMP.1.AgentCommunity',
]);

interface Group extends AttributeHolder {
  /** The last segment of its path. */
  readonly id: string;
  readonly registry: string | undefined;
}

interface ManagerAttributes {
  readonly groups: readonly Group[];
  readonly firmware: string | undefined;
}

export interface ComparedAttributes {
  readonly changes: AttributeChange[];
  readonly problems: Problem[];
  readonly pending: string[];
  /** Version of the manager; undefined if it was not read. */
  readonly firmware?: string | undefined;
}

const nothing: ComparedAttributes = { changes: [], problems: [], pending: [] };

/** Compares attributes of a manager; no request without any. */
export async function compareManagerAttributes(
  bmc: Bmc,
  uuid: string | undefined,
  desired: Readonly<Record<string, string>>,
  { secretNames = new Set(), ...call }: CallOptions & CompareOptions,
): Promise<ComparedAttributes> {
  if (Object.keys(desired).length === 0) return nothing;
  const { groups, firmware } = await readGroups(bmc, uuid, call);
  const id = groups.map(({ registry }) => registry).find((each) => each !== undefined);
  const registry = await readRegistry(bmc, { id, kinds: managerRegistries, firmware }, call);
  const { located, problems } = locate(desired, groups);
  const compared: ComparedAttributes[] = [{ ...nothing, problems }];
  for (const { group, names } of located)
    compared.push(await compareGroup(bmc, { group, names, desired, registry }, secretNames, call));
  return {
    changes: compared.flatMap(({ changes }) => changes),
    problems: compared.flatMap((each) => each.problems),
    pending: compared.flatMap(({ pending }) => pending).toSorted(),
    firmware,
  };
}

const managerRegistries = ['ManagerAttributeRegistry', 'BMCAttributeRegistry'];

/** Sends changes to their groups, one request for each. */
export async function writeManagerAttributes(
  bmc: Bmc,
  uuid: string | undefined,
  changes: readonly AttributeChange[],
  call: CallOptions,
): Promise<void> {
  if (changes.length === 0) return;
  const { groups } = await readGroups(bmc, uuid, call);
  const values = new Map(changes.map((change) => [change.name, change.to]));
  const { located, problems } = locate(Object.fromEntries(changes.map(({ name }) => [name, ''])), groups);
  const [missing] = problems;
  if (missing !== undefined)
    throw new RedfishError({ code: 'NotFound', message: `${missing.name}: ${missing.message}; nothing was sent` });
  for (const { group, names } of located) {
    const toSend = [...names].map(([name, key]) => ({ name, to: values.get(key) ?? null }));
    const settings = await readSettingsObject(bmc, group, call);
    await patchAttributes(bmc, { holder: group, settings }, toSend, 'Immediate', call);
  }
}

/** The groups of an iDRAC, or the manager itself. */
async function readGroups(bmc: Bmc, uuid: string | undefined, call: CallOptions): Promise<ManagerAttributes> {
  const uri = await requireManager(bmc, uuid, call);
  const { value: resource, etag } = await bmc.read(uri, manager, call);
  const links = resource.Links.Oem.Dell.DellAttributes.slice(0, maxGroups).flatMap(
    (entry) => reference.safeParse(entry).data ?? [],
  );
  const { FirmwareVersion: firmware } = resource;
  if (links.length === 0 && resource.Attributes === undefined)
    throw new RedfishError({
      code: 'NotSupported',
      message: `${uri} has no attributes; name settings as "PATCH <path>"`,
    });
  if (links.length === 0) return { groups: [groupOf(uri, resource, etag)], firmware };
  const groups: Group[] = [];
  for (const { '@odata.id': at } of links) {
    const { value: group, etag: etagOfGroup } = await bmc.read(at, attributeGroup, call);
    groups.push(groupOf(pathOf(at), group, etagOfGroup));
  }
  return { groups, firmware };
}

/** The URI of the expected manager. @throws RedfishError IdentityMismatch when the BMC does not have it. */
export async function requireManager(bmc: Bmc, uuid: string | undefined, call: CallOptions): Promise<string> {
  const found = await findManager(bmc, uuid, call);
  if (found !== undefined) return found.uri;
  if (uuid === undefined) throw new RedfishError({ code: 'NotFound', message: 'the BMC has no manager' });
  throw new RedfishError({
    code: 'IdentityMismatch',
    message: `the BMC is expected to have the manager ${uuid} and does not; nothing was sent to it`,
  });
}

const groupOf = (path: string, found: z.output<typeof attributeGroup>, etag: string | undefined): Group => ({
  id: path.split('/').at(-1) ?? path,
  path,
  etag,
  current: attributesIn(found.Attributes, path),
  settings: found['@Redfish.Settings'],
  registry: found.AttributeRegistry,
});

interface Located {
  readonly group: Group;
  /** Names of attributes, and how they are named in the desired settings. */
  readonly names: ReadonlyMap<string, string>;
}

/** The group of each attribute, and why others have none. */
function locate(
  desired: Readonly<Record<string, string>>,
  groups: readonly Group[],
): { located: readonly Located[]; problems: Problem[] } {
  const found = new Map<Group, Map<string, string>>();
  const problems: Problem[] = [];
  for (const key of Object.keys(desired).toSorted()) {
    const { name, candidates } = candidatesOf(key, groups);
    const [group, ...others] = candidates;
    if (group === undefined) problems.push({ name: key, message: unknownName(key, namesIn(groups), problems.length) });
    else if (others.length > 0)
      problems.push({
        name: key,
        message: `is in the groups ${candidates.map(({ id }) => id).join(', ')}: write <group>/${name}`,
      });
    else found.set(group, (found.get(group) ?? new Map<string, string>()).set(name, key));
  }
  return { located: [...found].map(([group, names]) => ({ group, names })), problems };
}

const namesIn = (groups: readonly Group[]): string[] => groups.flatMap(({ current }) => Object.keys(current));

/** Where there is one group, its registry decides whether it has an attribute without a value. */
function candidatesOf(key: string, groups: readonly Group[]): { name: string; candidates: readonly Group[] } {
  const slash = key.indexOf('/');
  const named = slash < 0 ? undefined : groups.find(({ id }) => id === key.slice(0, slash));
  if (named !== undefined) return { name: key.slice(slash + 1), candidates: [named] };
  if (groups.length === 1) return { name: key, candidates: groups };
  return { name: key, candidates: groups.filter(({ current }) => Object.hasOwn(current, key)) };
}

async function compareGroup(
  bmc: Bmc,
  {
    group,
    names,
    desired,
    registry,
  }: Located & {
    readonly desired: Readonly<Record<string, string>>;
    readonly registry: AttributeRegistry | undefined;
  },
  secretNames: ReadonlySet<string>,
  call: CallOptions,
): Promise<ComparedAttributes> {
  const settings = await readSettingsObject(bmc, group, call);
  const pending = pendingOf(group.current, settings, registry);
  const keyOf = (name: string): string => names.get(name) ?? name;
  const { changes, problems } = compareAttributes(
    Object.fromEntries([...names].map(([name, key]) => [name, desired[key] ?? ''])),
    { current: group.current, pending, registry, isResetPending: false },
    {
      secretNames: new Set([...names].flatMap(([name, key]) => (secretNames.has(key) ? [name] : []))),
      needsResetByDefault: false,
    },
  );
  return {
    changes: changes.map((change) => ({
      ...change,
      name: keyOf(change.name),
      needsReset:
        change.needsReset || (registry?.definitions.has(change.name) !== true && appliedByRestart.has(change.name)),
    })),
    problems: problems.map((problem) => ({ ...problem, name: keyOf(problem.name) })),
    pending: Object.keys(pending).map(keyOf),
  };
}
