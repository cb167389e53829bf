import * as z from 'zod';
import type { Bmc, CallOptions } from './bmc.ts';
import { pathOf } from './endpoint.ts';
import { RedfishError } from './errors.ts';
import { collection } from './schemas.ts';
import { expandQuery } from './service-root.ts';

/** More pages than any real collection has; guards against a nextLink that leads in a circle. */
const mostPages = 100;

/** Members of a collection, or links to them, in the order of the collection. */
export type Members = z.output<typeof collection>['Members'];

/**
 * Members of a collection, parsed. One request where the BMC expands; otherwise the members that came as links only are
 * read one by one.
 */
export async function readMembers<S extends z.ZodType>(
  bmc: Bmc,
  path: string,
  schema: S,
  options: CallOptions = {},
): Promise<z.output<S>[]> {
  return resolveAll(bmc, await listMembers(bmc, path, options), schema, options);
}

/** Members as the collection gives them: with `$expand` so many levels deep where the BMC does that. */
export async function listMembers(bmc: Bmc, path: string, options: CallOptions, levels = 1): Promise<Members> {
  const members: Members = [];
  let next: string | undefined = path;
  for (let page = 0; next !== undefined && page < mostPages; page += 1) {
    const answer: z.output<typeof collection> =
      page === 0
        ? await readExpanded(bmc, path, collection, options, levels)
        : await bmc.get(next, collection, options);
    members.push(...answer.Members);
    next = answer['Members@odata.nextLink'];
  }
  return members;
}

/** Reads a resource together with what it links to, where the BMC does that; without where it does not. */
export async function readExpanded<S extends z.ZodType>(
  bmc: Bmc,
  path: string,
  schema: S,
  options: CallOptions,
  levels = 1,
): Promise<z.output<S>> {
  const query = bmc.expands ? expandQuery(await bmc.root(options), levels) : undefined;
  if (query === undefined) return bmc.get(path, schema, options);
  try {
    return await bmc.get(`${path}${path.includes('?') ? '&' : '?'}${query}`, schema, options);
  } catch (error) {
    if (!mayBeTheQuery(error)) throw error;
    const plain = await bmc.get(path, schema, options);
    bmc.learnExpandFails();
    return plain;
  }
}

/** What is a link only is fetched; what came along is parsed. */
export function resolveAll<S extends z.ZodType>(
  bmc: Bmc,
  members: Members,
  schema: S,
  options: CallOptions,
): Promise<z.output<S>[]> {
  return Promise.all(
    members.map(async (member) =>
      isLinkOnly(member) ? bmc.get(member['@odata.id'], schema, options) : parseMember(member, schema),
    ),
  );
}

/** Whether nothing but the address of the resource is there. */
export const isLinkOnly = (member: object): boolean =>
  Object.keys(member).every((name) => name.startsWith('@odata.') || name.startsWith('@Redfish.'));

/** Firmware advertises what it does not do; the status it then answers with is anybody's guess. */
function mayBeTheQuery(error: unknown): boolean {
  if (!(error instanceof RedfishError)) return false;
  return error.code === 'BadAnswer' || ['HttpError', 'NotSupported', 'NotFound'].includes(error.code);
}

function parseMember<S extends z.ZodType>(member: { '@odata.id': string }, schema: S): z.output<S> {
  const parsed = schema.safeParse(member);
  if (parsed.success) return parsed.data;
  throw new RedfishError({
    code: 'BadAnswer',
    message: `${pathOf(member['@odata.id'])} is no usable Redfish resource: ${z.prettifyError(parsed.error)}`,
  });
}
