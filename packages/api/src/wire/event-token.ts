import { createHmac, timingSafeEqual } from 'node:crypto';

const tokenLength = 32;

/**
 * The token in the destination URL of the event subscription of a BMC: 192 bits, computable only with the key. It is bound
 * to the UID of the BMC object, so that no BMC can send events for another, and a recreated BMC object of the same name has
 * another token.
 */
export function mintEventToken(key: Uint8Array, bmcUID: string): string {
  if (key.length < 32) throw new RangeError(`event token key has ${key.length} bytes; expected at least 32`);
  if (bmcUID === '') throw new RangeError('event token needs the UID of a BMC; got none');
  const mac = createHmac('sha256', key).update(`metal-event-token/v1/${bmcUID}`);
  return mac.digest('base64url').slice(0, tokenLength);
}

/** Whether the candidate is the token of that BMC. Takes the same time for every wrong one. */
export function isEventToken(key: Uint8Array, bmcUID: string, candidate: string): boolean {
  const expected = Buffer.from(mintEventToken(key, bmcUID));
  const given = Buffer.from(candidate);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
