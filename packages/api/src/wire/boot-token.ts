import { createHmac, timingSafeEqual } from 'node:crypto';

/** 16 bytes of a UID and 132 bits of its HMAC: short enough for the 128 bytes of a URL in a DHCP message. */
const uidLength = 22;
const macLength = 22;

/**
 * The token of one boot attempt: the UID of its ServerBootConfiguration and an HMAC over it. It can be computed only with
 * the key, and it becomes invalid when that ServerBootConfiguration is deleted.
 */
export function mintBootToken(key: Uint8Array, bootConfigurationUID: string): string {
  const bytes = Buffer.from(bootConfigurationUID.replaceAll('-', ''), 'hex');
  if (textOf(bytes) !== bootConfigurationUID)
    throw new RangeError(
      `boot token needs the UID of a ServerBootConfiguration; got ${bootConfigurationUID === '' ? 'none' : `"${bootConfigurationUID}"`}`,
    );
  return bytes.toString('base64url') + macOf(key, bootConfigurationUID);
}

/**
 * The UID in a token that was minted with the key; undefined for anything else. Needs no lookup, so that guessed tokens
 * cause no requests. Takes the same time for every wrong HMAC.
 */
export function uidOfBootToken(key: Uint8Array, candidate: string): string | undefined {
  const uid = textOf(Buffer.from(candidate.slice(0, uidLength), 'base64url'));
  const expected = Buffer.from(uid === undefined ? '' : mintBootToken(key, uid));
  const given = Buffer.from(candidate);
  return given.length === expected.length && timingSafeEqual(given, expected) ? uid : undefined;
}

function macOf(key: Uint8Array, uid: string): string {
  if (key.length < 32) throw new RangeError(`boot token key has ${key.length} bytes; expected at least 32`);
  const mac = createHmac('sha256', key).update(`metal-boot-token/v2/${uid}`);
  return mac.digest('base64url').slice(0, macLength);
}

/** A UID in the notation of the API server; undefined for bytes of another length. */
function textOf(bytes: Buffer): string | undefined {
  const [, ...groups] = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(bytes.toString('hex')) ?? [];
  return groups.length === 0 ? undefined : groups.join('-');
}
