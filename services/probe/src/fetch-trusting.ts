import { Agent, fetch } from 'undici';

/** A fetch that trusts the certificates of the given PEM text instead of the well-known ones. */
export function fetchTrusting(caPem: string): typeof globalThis.fetch {
  const dispatcher = new Agent({ connect: { ca: caPem } });
  // undici's fetch is the one Node ships; only its type declarations are of another version.
  const trusting = fetch as unknown as typeof globalThis.fetch;
  return (input, init) => trusting(input, { ...init, dispatcher } as RequestInit); // dispatcher is undici's own extension
}
