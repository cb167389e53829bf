/**
 * Whether one resourceVersion is newer than another. They are decimal numbers of any length without leading zeros, so
 * the longer one is greater; an object without one is older than any.
 */
export function isNewerVersion(candidate: string | undefined = '', known: string | undefined = ''): boolean {
  return candidate.length === known.length ? candidate > known : candidate.length > known.length;
}
