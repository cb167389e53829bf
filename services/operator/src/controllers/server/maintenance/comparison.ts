import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ObservedHealth } from '../../health-condition.ts';

/** The parts after a maintenance, compared with those before it. unknown: the parts were not read before or after it. */
export type Comparison =
  | { readonly kind: 'unknown' | 'unchanged' }
  | { readonly kind: 'changed'; readonly difference: string }
  | { readonly kind: 'worse'; readonly message: string };

/** The way to accept it follows in the condition. */
const remedy = 'repair it, or accept the machine as it is';
const mostNamed = 2;

/** Parts are texts `<kind> <place>: <identity>`. A part counts as gone only if its kind has fewer than before. */
export function compareHardware(
  { spec, status }: Server,
  after: readonly string[] | undefined,
  health: ObservedHealth | undefined,
): Comparison | undefined {
  const before = status?.maintenance;
  if (status?.state !== 'Maintenance' || spec.serverClaimRef !== undefined) return undefined;
  if (health?.level === 'Critical' && before !== undefined && before.health !== 'Critical') {
    const parts = (health.parts ?? []).slice(0, mostNamed).map(({ name }) => name);
    const named = parts.length === 0 ? '' : ` (${parts.join(', ')})`;
    return worse(`the BMC reports Critical${named} since the maintenance; ${remedy}`);
  }
  if (before?.parts === undefined || after === undefined) return { kind: 'unknown' };
  const gone = goneParts(before.parts, after);
  if (gone.length > 0)
    return worse(`${listOf(gone)} ${gone.length === 1 ? 'is' : 'are'} gone since the maintenance; ${remedy}`);
  const known = new Set(before.parts);
  const differing = after.filter((part) => !known.has(part)).map(placeOf);
  if (differing.length > 0) return { kind: 'changed', difference: listOf(differing) };
  return after.length === before.parts.length ? { kind: 'unchanged' } : { kind: 'unknown' };
}

const worse = (message: string): Comparison => ({ kind: 'worse', message });

function goneParts(before: readonly string[], after: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const part of before) counts.set(kindOf(part), (counts.get(kindOf(part)) ?? 0) + 1);
  for (const part of after) counts.set(kindOf(part), (counts.get(kindOf(part)) ?? 0) - 1);
  const places = new Set(after.map(placeOf));
  return before
    .filter((part) => (counts.get(kindOf(part)) ?? 0) > 0)
    .map(placeOf)
    .filter((place) => !places.has(place));
}

const kindOf = (part: string): string => part.slice(0, part.indexOf(' '));
const placeOf = (part: string): string => part.slice(0, part.indexOf(': '));

function listOf(places: readonly string[]): string {
  const more = places.length > mostNamed ? ` and ${places.length - mostNamed} more` : '';
  return `${places.slice(0, mostNamed).join(', ')}${more}`;
}
