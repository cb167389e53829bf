import type { Server } from '@metal/api/v1alpha1/server.ts';
import { metadataPrefix } from '@metal/api/wire/contract.ts';

/** The metadata of a machine. Later sources win: static pairs, the name, annotations, labels. */
export function metadataOf(
  { metadata }: Server,
  staticMetadata: Readonly<Record<string, string>>,
): Map<string, string> {
  return new Map([
    ...Object.entries(staticMetadata),
    ['server-name', metadata.name],
    ...withPrefix(metadata.annotations),
    ...withPrefix(metadata.labels),
  ]);
}

const withPrefix = (pairs: Readonly<Record<string, string>> = {}): [string, string][] =>
  Object.entries(pairs)
    .filter(([key]) => key.startsWith(metadataPrefix))
    .map(([key, value]) => [key.slice(metadataPrefix.length), value]);
