/** Address of this host's loopback in a guest. */
export const hostAddress = '10.0.2.2';
/** The same in an isolated guest: QEMU forwards nothing from its own address. */
export const forwardAddress = '10.0.2.100';

/** The URL of a loopback listener of this host, from a guest; other URLs are unchanged. */
export function guestUrl(url: string, isRestricted = false): string {
  if (!isLoopback(url)) return url;
  const parsed = new URL(url);
  // Without URL serialisation, which would add a trailing slash; callers append to the result.
  return url.replace(parsed.hostname, isRestricted ? forwardAddress : hostAddress);
}

export const isLoopback = (url: string): boolean =>
  /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(URL.parse(url)?.hostname ?? '');
