import type * as z from 'zod';
import { parseResource, unusable } from '../http/parse-response.ts';
import type { Bmc, CallOptions } from '../http/bmc.ts';
import { pathOf } from '../endpoint.ts';
import { RedfishError } from '../errors.ts';
import { reference } from '../schemas.ts';

/** A resource embedded in a collection, or a link to it. */
export type Member = z.output<typeof reference>;

/** A resource that cannot be read although the BMC answers. */
export interface Unreadable {
  readonly path: string;
  readonly error: RedfishError;
}
export type OnUnreadable = (unreadable: Unreadable) => void;

export interface MemberOptions extends CallOptions {
  /** Called with each unreadable member. Without it an unreadable member fails the list, which would be incomplete. */
  readonly onUnreadable?: OnUnreadable | undefined;
}

/** Concurrent reads of members. The request queue admits fewer; more would only hold memory while queued. */
const maxConcurrentReads = 8;

/** Reads members that are links, and parses those that are embedded. */
export function resolveAll<S extends z.ZodType>(
  bmc: Bmc,
  members: readonly Member[],
  schema: S,
  { onUnreadable, ...options }: MemberOptions,
): Promise<z.output<S>[]> {
  return forEachMember(members, onUnreadable, (member) => resolve(bmc, member, schema, options));
}

/** Reads a member that is a link, and parses one that is embedded. */
export async function resolve<S extends z.ZodType>(
  bmc: Bmc,
  member: Member,
  schema: S,
  options: CallOptions,
): Promise<z.output<S>> {
  const path = pathOf(member['@odata.id']);
  return isLinkOnly(member) ? bmc.get(path, schema, options) : parseResource(schema, member, path);
}

/**
 * Reads members, a few at a time; the results are in their order. With `onUnreadable` an unreadable member is left out. When
 * none can be read, the call fails with the first error.
 */
export async function forEachMember<T>(
  members: readonly Member[],
  onUnreadable: OnUnreadable | undefined,
  read: (member: Member) => Promise<T>,
): Promise<T[]> {
  const unreadable: Unreadable[] = [];
  const results = await mapConcurrently(members, async (member) => {
    try {
      return [await read(member)];
    } catch (error) {
      if (onUnreadable === undefined || !concernsOneResource(error)) throw error;
      unreadable.push({ path: pathOf(member['@odata.id']), error });
      return [];
    }
  });
  const found = results.flatMap((each) => each);
  const [first] = unreadable;
  if (first !== undefined && found.length === 0) throw first.error;
  for (const each of unreadable) onUnreadable?.(each);
  return found;
}

/** Entries of a list as references, each resource once. An entry without a link is an unreadable member. */
export function referencesIn(
  entries: readonly unknown[],
  list: string,
  onUnreadable: OnUnreadable | undefined,
): Map<string, Member> {
  const members = new Map<string, Member>();
  const unreadable: Unreadable[] = [];
  for (const [index, entry] of entries.entries()) {
    const path = `${list}[${index}]`;
    const { data: member, error } = reference.safeParse(entry);
    if (member === undefined) unreadable.push({ path, error: unusable(path, error) });
    else members.set(pathOf(member['@odata.id']), member);
  }
  const [first] = unreadable;
  if (first !== undefined && (onUnreadable === undefined || members.size === 0)) throw first.error;
  for (const each of unreadable) onUnreadable?.(each);
  return members;
}

/** Whether a member holds nothing but its address, or the reason why it is not embedded. */
export const isLinkOnly = (member: object): boolean =>
  Object.keys(member).every((name) => /^@(odata|Redfish|Message)\./.test(name));

/**
 * The BMC answers, and only this resource is unreadable. A status about the BMC or the account (503, 401, 403), no response
 * at all, and a web server without its Redfish service (502, 504) concern all resources.
 */
export function concernsOneResource(error: unknown): error is RedfishError {
  if (!(error instanceof RedfishError)) return false;
  const { code, status } = error;
  if (code === 'HttpError') return status !== 502 && status !== 504;
  return code === 'NotFound' || code === 'NotSupported' || code === 'BadAnswer';
}

/** For a resource that another one names, and that some BMCs do not have all the same. */
export function undefinedIfMissing(error: unknown): undefined {
  if (error instanceof RedfishError && error.code === 'NotFound') return undefined;
  throw error;
}

/** The results are in the order of the items. After a failure no further item is started. */
export async function mapConcurrently<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (hasFailed) return;
      results[index] = await work(item).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrentReads, items.length) }, worker));
  return results;
}
