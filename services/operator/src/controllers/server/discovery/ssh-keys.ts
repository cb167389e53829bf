import { type KeyObject, randomBytes } from 'node:crypto';

/**
 * An Ed25519 key pair in the two forms OpenSSH reads: the private key file (PROTOCOL.key of OpenSSH, unencrypted) and
 * the authorized_keys line with its newline.
 */
export function openSshKeyPair(
  publicKey: KeyObject,
  privateKey: KeyObject,
  comment: string,
): { pem: string; pub: string } {
  // Raw Ed25519 keys are the last 32 bytes of their DER forms (RFC 8410).
  const publicBytes = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
  const seed = privateKey.export({ type: 'pkcs8', format: 'der' }).subarray(-32);
  const publicBlob = Buffer.concat([text('ssh-ed25519'), text(publicBytes)]);
  return {
    pub: `ssh-ed25519 ${publicBlob.toString('base64')} ${comment}\n`,
    pem: privateFile(publicBlob, publicBytes, seed, comment),
  };
}

function privateFile(publicBlob: Buffer, publicBytes: Buffer, seed: Buffer, comment: string): string {
  const check = randomBytes(4);
  const secret = Buffer.concat([
    check,
    check,
    text('ssh-ed25519'),
    text(publicBytes),
    text(Buffer.concat([seed, publicBytes])),
    text(comment),
  ]);
  const padding = Buffer.from(Array.from({ length: (8 - (secret.length % 8)) % 8 }, (_, index) => index + 1));
  const body = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    text('none'),
    text('none'),
    text(''),
    number(1),
    text(publicBlob),
    text(Buffer.concat([secret, padding])),
  ]);
  const lines = body.toString('base64').match(/.{1,70}/g) ?? [];
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n');
}

const number = (value: number): Buffer => {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32BE(value);
  return buffer;
};

const text = (value: string | Buffer): Buffer => {
  const bytes = Buffer.from(value);
  return Buffer.concat([number(bytes.length), bytes]);
};
