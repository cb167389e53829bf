import { createHmac, timingSafeEqual } from 'node:crypto';

/** The path `/firmware/<segment>/<name>/<token>/<file>` of an image at the boot service, by the kind of the object that names it. */
export const firmwareSegments = { BIOSVersion: 'bios', BMCVersion: 'bmc', FirmwareVersion: 'component' } as const;
export type FirmwareKind = keyof typeof firmwareSegments;

/** What a token permits to fetch: the bytes with this hash, from the image of this object, until then. */
export interface FirmwareGrant {
  readonly kind: FirmwareKind;
  readonly name: string;
  readonly size: number;
  /** In hex. */
  readonly sha256: string;
  /** Milliseconds. */
  readonly expiresAt: number;
}

/** 132 bits. */
const macLength = 22;

/** Expiry and size in base 36, SHA-256 and the start of an HMAC over all of the grant in base64url. */
export function mintFirmwareToken(key: Uint8Array, grant: FirmwareGrant): string {
  const sha256 = Buffer.from(grant.sha256, 'hex').toString('base64url');
  const seconds = Math.floor(grant.expiresAt / 1_000);
  const content = [seconds.toString(36), grant.size.toString(36), sha256].join('.');
  return `${content}.${macOf(key, grant, content)}`;
}

/**
 * The grant of a token that was minted with the key for this object; undefined for anything else, and after its expiry. Needs no
 * lookup, so that guessed tokens cause no requests.
 */
export function readFirmwareToken(
  key: Uint8Array,
  object: Pick<FirmwareGrant, 'kind' | 'name'>,
  token: string,
  now: number,
): FirmwareGrant | undefined {
  const [, content = '', expiry = '', size = '', sha256 = '', mac = ''] = tokenFormat.exec(token) ?? [];
  const expected = Buffer.from(macOf(key, object, content));
  const given = Buffer.from(mac);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const expiresAt = Number.parseInt(expiry, 36) * 1_000;
  if (now >= expiresAt) return undefined;
  const { kind, name } = object;
  return {
    kind,
    name,
    size: Number.parseInt(size, 36),
    sha256: Buffer.from(sha256, 'base64url').toString('hex'),
    expiresAt,
  };
}

const tokenFormat = /^(([0-9a-z]{1,9})\.([0-9a-z]{1,9})\.([A-Za-z0-9_-]{43}))\.([A-Za-z0-9_-]{22})$/;

function macOf(key: Uint8Array, { kind, name }: Pick<FirmwareGrant, 'kind' | 'name'>, content: string): string {
  if (key.length < 32) throw new RangeError(`boot token key has ${key.length} bytes; expected at least 32`);
  const mac = createHmac('sha256', key).update(`metal-firmware-token/v1/${kind}/${name}/${content}`);
  return mac.digest('base64url').slice(0, macLength);
}
