import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, fetch } from 'undici';

type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface GuardedFetch extends AsyncDisposable {
  readonly fetch: typeof globalThis.fetch;
}

type IsRefused = (address: string) => boolean;

/** Of one request; those of undici are five minutes each. */
export interface FetchTimeouts {
  readonly connectMs: number;
  /** From the request to the headers of the response. */
  readonly headersMs: number;
  /** Pause between two parts of the body. */
  readonly idleMs: number;
}

/**
 * A fetch that connects to no refused address. Names are resolved and checked as part of the connect, so that the checked address
 * is the one that is used (no DNS rebinding).
 */
export function guardedFetch(
  isRefused: IsRefused,
  resolve: Resolve = lookup,
  timeouts: Partial<FetchTimeouts> = {},
): GuardedFetch {
  const dispatcher = new Agent({
    connect: { lookup: checkedLookup(isRefused, resolve), timeout: timeouts.connectMs ?? 10_000 },
    headersTimeout: timeouts.headersMs ?? 300_000,
    bodyTimeout: timeouts.idleMs ?? 300_000,
  });
  // Node's fetch is undici in another version, with its own declarations.
  const through = fetch as unknown as (input: unknown, init: unknown) => Promise<Response>;
  const guarded: typeof globalThis.fetch = async (input, init) => {
    const { hostname } = new URL(input instanceof Request ? input.url : input);
    const literal = hostname.replace(/^\[|\]$/g, '');
    // A literal address causes no lookup.
    if (isRefused(literal)) throw new TypeError('fetch failed', { cause: refusedAddressError(hostname, literal) });
    return through(input, { ...init, dispatcher });
  };
  return { fetch: guarded, [Symbol.asyncDispose]: () => dispatcher.destroy() };
}

function checkedLookup(isRefused: IsRefused, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) =>
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '');
      const bad = addresses.find(({ address }) => isRefused(address));
      if (bad !== undefined) return callback(refusedAddressError(hostname, bad.address), '');
      const [first] = addresses;
      if (options.all === true || first === undefined) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
}

const refusedAddressError = (hostname: string, address: string): Error =>
  new Error(`${hostname} has address ${address}, which --refused-image-networks refuses`);
