import { type Expansion, expansionIn } from './expand.ts';
import type { VendorProfile } from './profiles.ts';
import { failure, type Reply, type Resource } from './replies.ts';

/** The query parameters of a read (DSP0266, query parameters). */
export interface View {
  readonly expansion: Expansion | undefined;
  /** Paths of properties, like `Status/Health`; undefined: all. */
  readonly select: readonly string[] | undefined;
  readonly skip: number;
  readonly top: number | undefined;
  /** The member in place of a collection of one. */
  readonly only: boolean;
}

/** A read without query parameters. */
export const wholeResource: View = { expansion: undefined, select: undefined, skip: 0, top: undefined, only: false };

const known = new Set(['$expand', '$select', '$top', '$skip']);

/** The view that a query requests, or the error response. Unknown parameters without `$` are ignored. */
export function viewIn(query: URLSearchParams, resource: Resource, profile: VendorProfile): View | Reply {
  const unknown = [...query.keys()].find((name) => name.startsWith('$') && !known.has(name));
  if (unknown !== undefined) return failure(501, 'QueryNotSupported', `${unknown} is not supported`);
  const expansion = expansionIn(query);
  if (expansion !== undefined && !profile.expand) return failure(501, 'QueryNotSupported', '$expand is not supported');
  if (expansion === 'invalid') return failure(400, 'QueryNotSupported', '$expand must be . or * or ~, and ($levels=n)');
  const [skip, top, select] = [query.get('$skip'), query.get('$top'), query.get('$select')];
  const only = query.get('only');
  const error = errorIn({ skip, top, select, only }, resource);
  if (error !== undefined) return failure(400, 'QueryParameterValueFormatError', error);
  return {
    expansion,
    select: select?.split(','),
    skip: Number(skip ?? 0),
    top: top === null ? undefined : Number(top),
    only: only !== null,
  };
}

type Values = Readonly<Record<'skip' | 'top' | 'select' | 'only', string | null>>;

function errorIn({ skip, top, select, only }: Values, { Members: members }: Resource): string | undefined {
  const isNumber = (value: string | null) => value === null || /^\d{1,9}$/.test(value);
  if (!isNumber(skip) || !isNumber(top)) return '$skip and $top must be numbers from 0';
  if (select !== null && !/^[\w@.]+(\/[\w@.]+)*(,[\w@.]+(\/[\w@.]+)*)*$/.test(select))
    return '$select must be names of properties, separated by commas';
  if (only !== null && only !== '') return 'only has no value';
  const isOfCollection = skip !== null || top !== null || only !== null;
  return isOfCollection && !Array.isArray(members) ? '$skip, $top and only apply to collections' : undefined;
}

/** The members that the view and the page size of the BMC leave, with the link to the next page. */
export function pageOf(
  resource: Resource,
  path: string,
  query: URLSearchParams,
  { skip, top }: View,
  size: number | undefined,
): Resource {
  const { Members: members } = resource;
  if (!Array.isArray(members) || (size === undefined && top === undefined && skip === 0)) return resource;
  const wantedEnd = Math.min(skip + (top ?? Infinity), members.length);
  const end = Math.min(wantedEnd, skip + (size ?? Infinity));
  const page = { ...resource, Members: members.slice(skip, end) };
  if (end >= wantedEnd) return page;
  const next = new URLSearchParams([...query].filter(([name]) => name !== '$skip' && name !== '$top'));
  next.set('$skip', String(end));
  if (top !== undefined) next.set('$top', String(wantedEnd - end));
  return { ...page, 'Members@odata.nextLink': `${path}?${decodeURIComponent(next.toString())}` };
}

/** The selected properties, and the annotations of OData, which are always returned. */
export function selected(resource: Resource, select: readonly string[]): Resource {
  const kept: [string, unknown][] = [];
  for (const [name, value] of Object.entries(resource)) {
    const paths = select.filter((path) => path === name || path.startsWith(`${name}/`));
    if (name.startsWith('@odata.') || paths.includes(name)) kept.push([name, value]);
    else if (paths.length > 0)
      kept.push([
        name,
        selectedIn(
          value,
          paths.map((path) => path.slice(name.length + 1)),
        ),
      ]);
  }
  return Object.fromEntries(kept);
}

function selectedIn(value: unknown, select: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => selectedIn(item, select));
  return typeof value === 'object' && value !== null ? selected({ ...value }, select) : value;
}
