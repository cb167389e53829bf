import * as z from 'zod';
import type { Bmc, CallOptions } from '../http/bmc.ts';
import { collection } from '../schemas.ts';
import type { AttributeChange, Problem } from './attributes.ts';
import { listMembers } from './collections.ts';
import { resolveAll } from './members.ts';
import { withoutValues } from './without-values.ts';

const key = /^(PATCH|POST) +(\/\S*)$/;

/** Whether a setting is a change of a resource: `PATCH <path>` or `POST <path>`. */
export const isResourceKey = (name: string): boolean => /^[A-Z]+ /.test(name);

type Json = Readonly<Record<string, unknown>>;

/** Compares resources with the JSON objects of their settings. Bodies are in no message. */
export async function compareResources(
  bmc: Bmc,
  desired: Readonly<Record<string, string>>,
  call: CallOptions,
): Promise<{ changes: AttributeChange[]; problems: Problem[] }> {
  const changes: AttributeChange[] = [];
  const problems: Problem[] = [];
  for (const name of Object.keys(desired).toSorted()) {
    const text = desired[name] ?? '';
    const result = await compareResource(bmc, name, text, call);
    if (typeof result === 'string') problems.push({ name, message: result });
    else if (!result) changes.push({ name, from: undefined, to: text, needsReset: false });
  }
  return { changes, problems };
}

/** Sends the objects, one after the other. A change carries the ETag of the read. */
export async function writeResources(
  bmc: Bmc,
  desired: Readonly<Record<string, string>>,
  changes: readonly AttributeChange[],
  call: CallOptions,
): Promise<void> {
  for (const { name } of changes) {
    const { method, path } = requestOf(name) ?? {};
    const body = objectIn(desired[name] ?? '');
    if (path === undefined || body === undefined)
      throw new TypeError(`${name}: the setting is not one that was compared`);
    await withoutValues(body, async () => {
      if (method === 'POST') return bmc.post(path, body, call);
      const { etag } = await bmc.read(path, z.unknown(), call);
      return bmc.patch(path, body, { ...call, ifMatch: etag });
    });
  }
}

/** Whether the resource is as desired, or why that cannot be told. */
async function compareResource(bmc: Bmc, name: string, text: string, call: CallOptions): Promise<boolean | string> {
  const { method, path } = requestOf(name) ?? {};
  if (path === undefined) return 'expected "PATCH <path>" or "POST <path>" with an absolute path as its name';
  const body = objectIn(text);
  if (body === undefined) return 'expected a JSON object as its value, found something else';
  const resource = await bmc.get(path, z.unknown(), call);
  if (method === 'POST') return containsMember(bmc, path, resource, body, call);
  const unreadable = unreadableIn(body, resource);
  if (unreadable !== undefined) return `${unreadable} is never shown by a BMC, so it cannot be compared`;
  return contains(resource, body, false);
}

function requestOf(name: string): { readonly method: string; readonly path: string } | undefined {
  const [, method, path] = key.exec(name) ?? [];
  return method === undefined || path === undefined ? undefined : { method, path };
}

function objectIn(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && isShallow(value, maxLevels) ? value : undefined;
  } catch {
    // The parser's error quotes the text.
    return undefined;
  }
}

/** Far more than any resource has: comparing is recursive. */
const maxLevels = 50;

const isShallow = (value: unknown, levels: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((each) => isShallow(each, levels - 1)));

/** A collection has what is to be created when a member has all its properties; those that a member does not show count as equal. */
async function containsMember(
  bmc: Bmc,
  path: string,
  resource: unknown,
  body: Json,
  call: CallOptions,
): Promise<boolean | string> {
  const isCollection = isObject(resource) && Array.isArray(resource.Members) && collection.safeParse(resource).success;
  if (!isCollection) return 'expected the path of a collection: nothing else can be compared with what is sent by POST';
  const members = await resolveAll(bmc, await listMembers(bmc, path, call), z.unknown(), call);
  return members.some((member) => contains(member, body, true));
}

/** Whether every desired property has its value. */
function contains(actual: unknown, desired: unknown, ignoresHidden: boolean): boolean {
  if (Array.isArray(desired)) return Array.isArray(actual) && containsElements(actual, desired, ignoresHidden);
  if (!isObject(desired)) return (actual ?? null) === desired;
  if (!isObject(actual)) return false;
  return Object.entries(desired).every(([name, value]) => {
    const found = Object.hasOwn(actual, name) ? actual[name] : undefined;
    if (ignoresHidden && isWriteOnly(name) && (found === undefined || found === null)) return true;
    return contains(found, value, ignoresHidden);
  });
}

/** The same elements in the same order. In a change `{}` leaves an element as it is and null removes it (DSP0266). */
function containsElements(actual: readonly unknown[], desired: readonly unknown[], ignoresHidden: boolean): boolean {
  const found = actual.filter((each) => each !== null);
  const wanted = desired.filter((each) => each !== null);
  return (
    found.length === wanted.length &&
    wanted.every((each, index) => isEmptyObject(each) || contains(found[index], each, ignoresHidden))
  );
}

const isEmptyObject = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;

/** The path of a desired secret that the resource reports as null, as the standard demands. */
function unreadableIn(desired: Json, actual: unknown): string | undefined {
  for (const [name, value] of Object.entries(desired)) {
    const found = isObject(actual) && Object.hasOwn(actual, name) ? actual[name] : undefined;
    if (isWriteOnly(name) && value !== null && (found ?? null) === null) return name;
    const below = isObject(value) ? unreadableIn(value, found) : undefined;
    if (below !== undefined) return `${name}/${below}`;
  }
  return undefined;
}

/** Properties that a service reports as null (DSP0268): passwords, keys of SNMP, tokens. */
const isWriteOnly = (name: string): boolean =>
  /^(.*Password|.*Passphrase|AuthenticationKey|EncryptionKey|Token)$/.test(name);

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
