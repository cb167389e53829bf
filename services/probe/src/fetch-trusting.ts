import { Agent, fetch } from 'undici';

/** A fetch that trusts the certificates of the given PEM text instead of the well-known ones. */
export function fetchTrusting(caPem: string): typeof globalThis.fetch {
  const dispatcher = new Agent({ connect: { ca: caPem } });
  // Node's fetch is this one in another version; the declarations of the two do not know each other.
  const trusting = fetch as unknown as (input: unknown, init: unknown) => Promise<Response>;
  return (input, init) => trusting(input, { ...init, dispatcher });
}
