import type { BMC } from './v1alpha1/bmc.ts';
import type { Endpoint } from './v1alpha1/endpoint.ts';
import { byAge } from '@metal/kube/kinds/kind.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { hexDigitsOf } from './mac-prefixes.ts';

/** The identity of a MAC address, independent of its notation; undefined for other text. */
export function macIdentityOf(macAddress: string | undefined): string | undefined {
  const digits = hexDigitsOf(macAddress ?? '');
  return /^[0-9A-F]{12}$/.test(digits) ? digits : undefined;
}

const separated = /^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$/;

/** For a status, which accepts only pairs separated by `:` or `-`: unchanged if the text has that form. */
export function separatedMacAddress(macAddress: string | undefined): string | undefined {
  if (macAddress !== undefined && separated.test(macAddress)) return macAddress;
  return macIdentityOf(macAddress)?.toLowerCase().match(/../g)?.join(':');
}

/** Other endpoints with the same MAC address. The controllers act on the first of such duplicates only. */
export interface DuplicateEndpoints {
  /** Endpoints with precedence: they have a BMC, or are older. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/**
 * The admission policy rejects a second Endpoint with one MAC address by an index that the operator writes. Two Endpoints
 * created at the same moment may both be admitted, and older releases compared addresses as text.
 */
export function duplicatesOf(
  endpoint: Endpoint,
  sameAddress: readonly Endpoint[],
  hasBmc: (endpoint: Endpoint) => boolean,
): DuplicateEndpoints {
  const others = sameAddress.filter(
    ({ metadata }) => metadata.name !== endpoint.metadata.name && metadata.deletionTimestamp === undefined,
  );
  const comesFirst = (other: Endpoint) =>
    hasBmc(other) === hasBmc(endpoint) ? byAge(other, endpoint) < 0 : hasBmc(other);
  const names = (first: boolean) =>
    others
      .filter((other) => comesFirst(other) === first)
      .map(({ metadata }) => metadata.name)
      .toSorted((a, b) => a.localeCompare(b, 'en'));
  return { before: names(true), after: names(false) };
}

/** The endpoint that holds the MAC address which these endpoints share; undefined while all of them are being deleted. */
export function holderOf(
  sameAddress: readonly Endpoint[],
  hasBmc: (endpoint: Endpoint) => boolean,
): Endpoint | undefined {
  return sameAddress.find(
    (endpoint) =>
      endpoint.metadata.deletionTimestamp === undefined &&
      duplicatesOf(endpoint, sameAddress, hasBmc).before.length === 0,
  );
}

export const hasBmcIn =
  (bmcs: Cache<BMC>) =>
  ({ metadata }: Endpoint): boolean =>
    bmcs.by('endpoint', metadata.name).length > 0;
