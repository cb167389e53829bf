import { hash } from 'node:crypto';
import * as z from 'zod';
import { type Bmc, type CallOptions } from '../http/bmc.ts';
import { pathOf } from '../endpoint.ts';
import { RedfishError } from '../errors.ts';
import { entries, text } from '../fields.ts';
import { registryBody, registryOf } from './attribute-registry.ts';
import type { AttributeRegistry } from './attributes.ts';
import { listMembers } from './collections.ts';
import { concernsOneResource, type Member } from './members.ts';

/** Registries of one BMC; the oldest is dropped. A BMC has one for its BIOS and one for itself. */
const maxCached = 8;
/** An iDRAC needs many seconds for the megabytes of its registry. */
const registryDeadlineMs = 60_000;
/** Locators to read where the links do not name the registry. */
const maxLocators = 64;

interface Known {
  readonly registries: Map<string, AttributeRegistry>;
  /** Paths by identifier. */
  readonly places: Map<string, string>;
}
const cache = new WeakMap<Bmc, Known>();

export interface WantedRegistry {
  /** As a resource names it in AttributeRegistry; undefined when it names none. */
  readonly id: string | undefined;
  /** What the identifiers of such registries contain. */
  readonly kinds: readonly string[];
  /** Of the firmware: a new one may have another registry of the same name. */
  readonly firmware: string | undefined;
}

/**
 * The registry of attributes; undefined when the BMC has none, or none that can be read. Kept as long as the `Bmc`, by
 * identifier and firmware; with another firmware it is read at the same place.
 * @throws RedfishError when the BMC does not answer.
 */
export async function readRegistry(
  bmc: Bmc,
  { id, kinds, firmware }: WantedRegistry,
  options: CallOptions,
): Promise<AttributeRegistry | undefined> {
  const { registries, places } = cache.get(bmc) ?? { registries: new Map(), places: new Map() };
  cache.set(bmc, { registries, places });
  const key = `${id ?? kinds.join()} ${firmware ?? ''}`;
  const cached = registries.get(key);
  if (cached !== undefined) return cached;
  const call = { deadlineMs: registryDeadlineMs, ...options, isSideResource: true };
  const read =
    (await rereadRegistry(bmc, id, places, call)) ?? (await orUndefined(findRegistry(bmc, id, kinds, call), isMissing));
  if (read === undefined) return undefined;
  const { registry, path } = read;
  const found = intern(registry);
  remember(registries, key, found);
  if (id !== undefined) remember(places, id, path);
  return found;
}

interface Located {
  readonly registry: AttributeRegistry;
  readonly path: string;
}

async function rereadRegistry(
  bmc: Bmc,
  id: string | undefined,
  places: ReadonlyMap<string, string>,
  call: CallOptions,
): Promise<Located | undefined> {
  const path = places.get(id ?? '');
  if (path === undefined || id === undefined) return undefined;
  const body = await orUndefined(bmc.get(path, registryBody, call), concernsOneResource);
  return body && located(id, body, path);
}

function remember<T>(known: Map<string, T>, key: string, value: T): void {
  const [oldest] = known.keys();
  if (known.size >= maxCached && oldest !== undefined) known.delete(oldest);
  known.set(key, value);
}

async function findRegistry(
  bmc: Bmc,
  id: string | undefined,
  kinds: readonly string[],
  call: CallOptions,
): Promise<Located | undefined> {
  const { Registries: path } = await bmc.root(call);
  if (path === undefined) return undefined;
  // Without $expand: a BMC has dozens of registries, and their links name them.
  const members = await listMembers(bmc, path, { ...call, isPlain: true });
  const named = chosenOf(members, id, kinds);
  if (named !== undefined) return readLocated(bmc, named, id, call);
  for (const member of members.slice(0, maxLocators)) {
    const locator = await orUndefined(bmc.get(pathOf(member['@odata.id']), registryFile, call), concernsOneResource);
    if (locator !== undefined && isWanted(locator.Registry ?? locator.Id ?? '', id, kinds))
      return readLocated(bmc, member, id, call);
  }
  return undefined;
}

/**
 * The member whose link ends with the identifier; else with one of another version, or with its beginning. A BIOS that names
 * none has the first one of its kind.
 */
function chosenOf(members: readonly Member[], id: string | undefined, kinds: readonly string[]): Member | undefined {
  const exact = members.find((member) => lastOf(member).toLowerCase() === id?.toLowerCase());
  return exact ?? members.find((member) => isWanted(lastOf(member), id, kinds)) ?? members.find(beginsLike(id));
}

const beginsLike =
  (id: string | undefined) =>
  (member: Member): boolean => {
    const [candidate, wanted] = [nameOf(lastOf(member)), nameOf(id ?? '')];
    return (
      candidate.length >= shortestName &&
      (wanted.startsWith(candidate) || candidate.startsWith(wanted)) &&
      wanted !== ''
    );
  };

/** Identifiers of fewer characters are not compared by their beginnings. */
const shortestName = 8;

const nameOf = (id: string): string => id.toLowerCase().split('.')[0] ?? '';

const lastOf = ({ '@odata.id': path }: Member): string => pathOf(path).replace(/\/$/, '').split('/').at(-1) ?? '';

/** By identifier without a version, like BiosAttributeRegistry.v1_0_0 and BiosAttributeRegistry.1.0; by kind without one. */
function isWanted(candidate: string, id: string | undefined, kinds: readonly string[]): boolean {
  if (id !== undefined) return nameOf(candidate) === nameOf(id);
  return kinds.some((kind) => candidate.toLowerCase().includes(kind.toLowerCase()));
}

/** MessageRegistryFile (DSP0268), which locates a registry. */
const registryFile = z.object({ Id: text, Registry: text, Location: entries });
const location = z.object({ Language: text, Uri: z.string().min(1) });

/** Some BMCs have the registry itself in the place of its locator. */
async function readLocated(
  bmc: Bmc,
  member: Member,
  id: string | undefined,
  call: CallOptions,
): Promise<Located | undefined> {
  const path = pathOf(member['@odata.id']);
  const { Registry, Location, ...body } = await bmc.get(path, registryBody.extend(registryFile.shape), call);
  const name = id ?? Registry ?? lastOf(member);
  const places = Location.flatMap((entry) => location.safeParse(entry).data ?? []);
  const place = places.find(({ Language = '' }) => /^en\b/i.test(Language)) ?? places[0];
  if (place === undefined) return located(name, body, path);
  const at = pathOf(place.Uri);
  return located(name, await bmc.get(at, registryBody, call), at);
}

function located(id: string, body: z.output<typeof registryBody>, path: string): Located | undefined {
  const registry = registryOf(id, body, path);
  return registry && { registry, path };
}

/** Undefined when the resource does not exist. Without the registry of a BMC that is overloaded, valid names would be unknown. */
async function orUndefined<T>(reading: Promise<T>, isAbsent: (error: RedfishError) => boolean): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof RedfishError && isAbsent(error)) return undefined;
    throw error;
  }
}

const isMissing = ({ code }: RedfishError): boolean => code === 'NotFound' || code === 'NotSupported';

const interned = new Map<string, WeakRef<AttributeRegistry>>();
const forgotten = new FinalizationRegistry((digest: string) => {
  if (interned.get(digest)?.deref() === undefined) interned.delete(digest);
});

/** One object for all BMCs with the same content: a registry takes up to several megabytes, and a fleet has few of them. */
function intern(registry: AttributeRegistry): AttributeRegistry {
  const { id, definitions, dependencies } = registry;
  const digest = hash('sha256', JSON.stringify([id, [...definitions.values()], dependencies]), 'base64');
  const known = interned.get(digest)?.deref();
  if (known !== undefined) return known;
  interned.set(digest, new WeakRef(registry));
  forgotten.register(registry, digest);
  return registry;
}
