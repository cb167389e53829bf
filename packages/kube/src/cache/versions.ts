/**
 * Whether one resourceVersion is newer than another. They are decimal numbers of any length without leading zeros, so
 * that the longer one is greater; an object that has none is older than any.
 */
export function isNewerVersion(candidate: string | undefined = '', known: string | undefined = ''): boolean {
  return candidate.length === known.length ? candidate > known : candidate.length > known.length;
}
