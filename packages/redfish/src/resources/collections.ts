import type * as z from 'zod';
import type { Bmc, CallOptions } from '../http/bmc.ts';
import { pathOf } from '../endpoint.ts';
import { RedfishError } from '../errors.ts';
import { type Member, type MemberOptions, referencesIn, resolveAll } from './members.ts';
import { collection } from '../schemas.ts';
import { expandQuery } from '../http/service-root.ts';

/** Far more than any real BMC has; they bound memory. */
const maxPages = 100;
const maxCharacters = 16 * 1024 * 1024;
export const maxMembers = 10_000;

export interface ListOptions extends MemberOptions {
  /** Levels to expand, when the BMC supports it. */
  readonly levels?: number | undefined;
  readonly maxMembers?: number | undefined;
  /** Without `$expand`, for large members that are not all read. */
  readonly isPlain?: boolean | undefined;
}

/** Members of a collection, parsed. One request when the BMC expands; otherwise members that are links are read one by one. */
export async function readMembers<S extends z.ZodType>(
  bmc: Bmc,
  path: string,
  schema: S,
  options: ListOptions = {},
): Promise<z.output<S>[]> {
  const members = await listMembers(bmc, path, options);
  // One unreadable member of several, if the caller allows it, does not count as a failure of the BMC.
  const isSideResource = options.isSideResource ?? (options.onUnreadable !== undefined && members.length > 1);
  return resolveAll(bmc, members, schema, { ...options, isSideResource });
}

/**
 * Members as the collection holds them, each resource once, with `$expand` when the BMC supports it. A page that was read
 * before ends the collection: a last page that links to itself is a known firmware defect, and no member is lost.
 */
export async function listMembers(bmc: Bmc, path: string, options: ListOptions = {}): Promise<Member[]> {
  const members = new Map<string, Member>();
  const visited = new Set<string>();
  let characters = 0;
  for (let next: string | undefined = path; next !== undefined && !visited.has(pathOf(next)); ) {
    visited.add(pathOf(next));
    requireAtMost(maxPages, 'pages', visited.size, path);
    const { value, length }: Page =
      next === path && options.isPlain !== true
        ? await readExpanded(bmc, path, collection, options)
        : await bmc.read(next, collection, options);
    characters += length;
    requireAtMost(maxCharacters, 'characters', characters, path);
    requireAtMost(options.maxMembers ?? maxMembers, 'members', members.size + value.Members.length, path);
    for (const [at, member] of referencesIn(value.Members, `${path}#/Members`, options.onUnreadable))
      members.set(at, member);
    next = value['Members@odata.nextLink'];
  }
  return [...members.values()];
}

type Page = { readonly value: z.output<typeof collection>; readonly length: number };

/** @throws RedfishError BadAnswer above the limit. */
export function requireAtMost(limit: number, items: string, found: number, path: string): void {
  if (found <= limit) return;
  throw new RedfishError({
    code: 'BadAnswer',
    message: `${path}: expected at most ${limit} ${items}, found ${found} or more; check that the address is that of a BMC`,
  });
}

/** Reads a resource, expanded when the BMC supports it. */
export async function readExpanded<S extends z.ZodType>(
  bmc: Bmc,
  path: string,
  schema: S,
  { levels = 1, ...options }: CallOptions & { readonly levels?: number | undefined },
): Promise<{ value: z.output<S>; length: number }> {
  const query = bmc.expands ? expandQuery(await bmc.root(options), levels) : undefined;
  if (query === undefined) return bmc.read(path, schema, options);
  try {
    return await bmc.read(`${path}${path.includes('?') ? '&' : '?'}${query}`, schema, options);
  } catch (error) {
    if (!mayBeExpandError(error)) throw error;
    const plain = await bmc.read(path, schema, options);
    bmc.disableExpand();
    return plain;
  }
}

/** Some firmware advertises `$expand` without support for it, and answers with any of these. */
function mayBeExpandError(error: unknown): boolean {
  if (!(error instanceof RedfishError)) return false;
  return error.code === 'BadAnswer' || ['HttpError', 'NotSupported', 'NotFound'].includes(error.code);
}
