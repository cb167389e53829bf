import { Agent, fetch } from 'undici';

/** A fetch that trusts the given CA certificates (PEM) instead of the default ones. */
export function fetchTrusting(caPem: string): typeof globalThis.fetch {
  const dispatcher = new Agent({ connect: { ca: caPem } });
  // Node's fetch is another version of this function, with separate type declarations.
  const trusting = fetch as unknown as (input: unknown, init: unknown) => Promise<Response>;
  return (input, init) => trusting(input, { ...init, dispatcher });
}
