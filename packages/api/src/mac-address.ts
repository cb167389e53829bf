import type { BMC } from './v1alpha1/bmc.ts';
import type { Endpoint } from './v1alpha1/endpoint.ts';
import { byAge } from '@metal/kube/kinds/kind.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { hexDigitsOf } from './mac-prefixes.ts';

/** By what MAC addresses are the same, whatever the notation; undefined for text that is none. */
export function macIdentityOf(macAddress: string | undefined): string | undefined {
  const digits = hexDigitsOf(macAddress ?? '');
  return /^[0-9A-F]{12}$/.test(digits) ? digits : undefined;
}

const separated = /^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$/;

/** For a status, which takes pairs separated by `:` or `-` only: as written if it is so already. */
export function separatedMacAddress(macAddress: string | undefined): string | undefined {
  if (macAddress !== undefined && separated.test(macAddress)) return macAddress;
  return macIdentityOf(macAddress)?.toLowerCase().match(/../g)?.join(':');
}

/** Other endpoints with the same MAC address. Of such twins only the first is acted on. */
export interface DuplicateEndpoints {
  /** Those that come before this one: they have a BMC already, or are older. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/**
 * The API server refuses a second Endpoint with one MAC address, but by what the operator has written of the first: of
 * two that are created in the same moment both may get through, and older releases compared letter by letter.
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

/** Of endpoints with one MAC address the one that has it; undefined while all of them are being deleted. */
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
