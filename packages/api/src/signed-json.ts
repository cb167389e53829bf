import { type KeyObject, sign } from 'node:crypto';

export interface SigningKey {
  /** Key ID (`kid`), unique over all keys. */
  readonly id: string;
  /** Ed25519. */
  readonly privateKey: KeyObject;
}

/** A JSON Web Signature in its compact form (RFC 7515, RFC 8037): header.payload.signature, each in base64url. */
export function signedJson(payload: object, { id, privateKey }: SigningKey): string {
  const signed = `${encoded({ alg: 'EdDSA', kid: id })}.${encoded(payload)}`;
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
