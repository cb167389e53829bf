import { createHmac, timingSafeEqual } from 'node:crypto';

const tokenLength = 32;

/**
 * The token of one boot attempt: whoever knows the key can compute it, nobody else can guess it (192 bits), and it is
 * worth nothing once the ServerBootConfiguration it was made for is gone.
 */
export function mintBootToken(key: Uint8Array, bootConfigurationUID: string): string {
  if (key.length < 32) throw new RangeError(`boot token key has ${key.length} bytes; expected at least 32`);
  if (bootConfigurationUID === '')
    throw new RangeError('boot token needs the UID of a ServerBootConfiguration; got none');
  const mac = createHmac('sha256', key).update(`metal-boot-token/v1/${bootConfigurationUID}`);
  return mac.digest('base64url').slice(0, tokenLength);
}

/** Whether the candidate is the token of that boot attempt. Takes the same time for every wrong one. */
export function isBootToken(key: Uint8Array, bootConfigurationUID: string, candidate: string): boolean {
  const expected = Buffer.from(mintBootToken(key, bootConfigurationUID));
  const given = Buffer.from(candidate);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
