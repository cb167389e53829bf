import type * as z from 'zod';
import type { Bmc, CallOptions } from './bmc.ts';
import { RedfishError } from './errors.ts';
import { collection } from './schemas.ts';
import { expandQuery } from './service-root.ts';

/** More pages than any real collection has; guards against a nextLink that leads in a circle. */
const mostPages = 50;

/**
 * Members of a collection, parsed. One request where the BMC expands; otherwise the members that came as links only are
 * read one by one. The order is that of the collection.
 */
export async function readMembers<S extends z.ZodType>(
  bmc: Bmc,
  path: string,
  schema: S,
  options: CallOptions = {},
): Promise<z.output<S>[]> {
  const members = await listMembers(bmc, path, options);
  return Promise.all(
    members.map((member) =>
      isLinkOnly(member) ? bmc.get(member['@odata.id'], schema, options) : parseMember(member, schema),
    ),
  );
}

async function listMembers(bmc: Bmc, path: string, options: CallOptions): Promise<{ '@odata.id': string }[]> {
  const query = expandQuery(await bmc.root(options)) ?? '';
  const members: { '@odata.id': string }[] = [];
  let next: string | undefined = `${path}${query}`;
  for (let page = 0; next !== undefined && page < mostPages; page += 1) {
    const answer: z.output<typeof collection> = await bmc.get(next, collection, options);
    members.push(...answer.Members);
    next = answer['Members@odata.nextLink'] ?? undefined;
  }
  return members;
}

const isLinkOnly = (member: object): boolean => Object.keys(member).every((name) => name.startsWith('@odata.'));

function parseMember<S extends z.ZodType>(member: { '@odata.id': string }, schema: S): z.output<S> {
  const parsed = schema.safeParse(member);
  if (parsed.success) return parsed.data;
  throw new RedfishError({
    code: 'BadAnswer',
    message: `${member['@odata.id']} is no usable Redfish resource: ${parsed.error.issues[0]?.message ?? ''}`,
  });
}
