import type * as z from 'zod';
import { parseResource, unusable } from '../http/parse-response.ts';
import type { Bmc, CallOptions } from '../http/bmc.ts';
import { pathOf } from '../endpoint.ts';
import { RedfishError } from '../errors.ts';
import { reference } from '../schemas.ts';

/** A resource that came along in a collection, or a link to it. */
export type Member = z.output<typeof reference>;

/** A resource that cannot be read, while the BMC answers. */
export interface Unreadable {
  readonly path: string;
  readonly error: RedfishError;
}
export type OnUnreadable = (unreadable: Unreadable) => void;

export interface MemberOptions extends CallOptions {
  /** Told of each member that cannot be read. Without it such a member fails the list: a list without it would be a lie. */
  readonly onUnreadable?: OnUnreadable | undefined;
}

/** Members that are read at the same time. A BMC is asked for fewer; more would only wait, each with memory of its own. */
const maxConcurrentReads = 8;

/** What is a link only is fetched; what came along is parsed. */
export function resolveAll<S extends z.ZodType>(
  bmc: Bmc,
  members: readonly Member[],
  schema: S,
  { onUnreadable, ...options }: MemberOptions,
): Promise<z.output<S>[]> {
  return forEachMember(members, onUnreadable, async (member) => {
    const path = pathOf(member['@odata.id']);
    return isLinkOnly(member) ? bmc.get(path, schema, options) : parseResource(schema, member, path);
  });
}

/**
 * Reads members, a few at a time; the results are in their order. With `onUnreadable` one that cannot be read is left out. If
 * none can be read, that is no matter of members: it fails with the first error.
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

/** Entries of a list as references, each resource once. An entry that refers to nothing is a member that cannot be read. */
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

/** Whether nothing but the address of the resource is there, or why it did not come along. */
export const isLinkOnly = (member: object): boolean =>
  Object.keys(member).every((name) => /^@(odata|Redfish|Message)\./.test(name));

/**
 * The BMC answers, and cannot give this one resource. What it says of itself (503, 401, 403) or does not say at all concerns
 * everything; so does an answer of a web server that has no Redfish service behind it (502, 504).
 */
export function concernsOneResource(error: unknown): error is RedfishError {
  if (!(error instanceof RedfishError)) return false;
  const { code, status } = error;
  if (code === 'HttpError') return status !== 502 && status !== 504;
  return code === 'NotFound' || code === 'NotSupported' || code === 'BadAnswer';
}

/** The results are in the order of the items. After a failure nothing more is begun. */
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
