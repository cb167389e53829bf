import type { Resource } from './replies.ts';

/** `$expand` (DSP0266 7.3): the links to follow, and the levels. */
export interface Expansion {
  /** Follows those in `Links`. */
  readonly links: boolean;
  /** Follows all others: members, parts. */
  readonly parts: boolean;
  readonly levels: number;
}

const maxLevels = 2;

/** Undefined for a query without `$expand`; `invalid` for an unknown one. */
export function expansionIn(query: URLSearchParams): Expansion | 'invalid' | undefined {
  const text = query.get('$expand');
  if (text === null) return undefined;
  const [, kind, levels = '1'] = /^([.*~])(?:\(\$levels=(\d+)\))?$/.exec(text) ?? [];
  if (kind === undefined) return 'invalid';
  return { links: kind !== '.', parts: kind !== '~', levels: Math.min(Number(levels), maxLevels) };
}

/** Replaces links by their resources, except in actions and annotations. */
export function expanded(
  resource: Resource,
  { links, parts, levels }: Expansion,
  find: (path: string) => Resource | undefined,
): Resource {
  if (levels === 0) return resource;
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace);
    if (!isLink(value)) return value;
    const found = find(value['@odata.id']);
    return found === undefined ? value : expanded(found, { links, parts, levels: levels - 1 }, find);
  };
  const entries = Object.entries(resource).map(([name, value]) => {
    if (name.startsWith('@') || name === 'Actions') return [name, value];
    if (name === 'Links') return [name, links && isObject(value) ? mapValues(value, replace) : value];
    return [name, parts ? replace(value) : value];
  });
  return Object.fromEntries(entries);
}

const isObject = (value: unknown): value is Resource =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const mapValues = (value: Resource, map: (value: unknown) => unknown): Resource =>
  Object.fromEntries(Object.entries(value).map(([name, item]) => [name, map(item)]));

function isLink(value: unknown): value is { '@odata.id': string } {
  if (typeof value !== 'object' || value === null || !('@odata.id' in value)) return false;
  return typeof value['@odata.id'] === 'string' && Object.keys(value).length === 1;
}
