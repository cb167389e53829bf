import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ReleaseError } from './errors.ts';

export const sumsFile = 'SHA256SUMS';

export const writeSums = async (directory: string): Promise<void> =>
  writeFile(join(directory, sumsFile), await sumsOf(directory));

/** As `sha256sum --check` reads it. */
export async function sumsOf(directory: string): Promise<string> {
  const lines = [];
  for (const path of await filesBelow(directory)) lines.push(`${await sha256Of(join(directory, path))}  ${path}\n`);
  return lines.join('');
}

/** Paths relative to the directory, in order. */
export async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(directory, join(parentPath, name)))
    .toSorted();
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(path)) hash.update(part);
  return hash.digest('hex');
}

/** @throws ReleaseError SigningKeyInvalid */
export async function readSigningKey(path: string): Promise<KeyObject> {
  const remedy = 'Make one: openssl genpkey -algorithm ed25519 -out release-key.pem';
  let key: KeyObject;
  try {
    key = createPrivateKey(await readFile(path));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ReleaseError(
      'SigningKeyInvalid',
      `expected a private Ed25519 key without a passphrase in ${path}: ${reason}. ${remedy}`,
      error,
    );
  }
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new ReleaseError(
    'SigningKeyInvalid',
    `expected an Ed25519 key in ${path}, found ${key.asymmetricKeyType}. ${remedy}`,
  );
}

/** A raw signature, as `openssl pkeyutl -verify -rawin` reads it. */
export async function signSums(directory: string, key: KeyObject): Promise<void> {
  const sums = await readFile(join(directory, sumsFile));
  await writeFile(join(directory, `${sumsFile}.sig`), sign(undefined, sums, key));
}
