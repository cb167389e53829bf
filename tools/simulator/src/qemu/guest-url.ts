/** Where a guest finds this host's loopback addresses. */
export const hostAddress = '10.0.2.2';
/** The same for a guest that is kept off other networks: QEMU forwards nothing from its own address. */
export const forwardAddress = '10.0.2.100';

/** The address under which a guest reaches what listens on this host's loopback; others stay as they are. */
export function guestUrl(url: string, isRestricted = false): string {
  if (!isLoopback(url)) return url;
  const parsed = new URL(url);
  // By hand: a URL written anew gets a slash at its end, and callers append to it.
  return url.replace(parsed.hostname, isRestricted ? forwardAddress : hostAddress);
}

export const isLoopback = (url: string): boolean =>
  /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(URL.parse(url)?.hostname ?? '');
