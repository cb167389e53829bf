import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Password } from '@metal/redfish/http/password.ts';
import type { IronicOptions } from '../options.ts';

/** What the files of the options contain at present. */
export interface AccessFiles {
  readonly login: { readonly username: string; readonly password: Password } | undefined;
  readonly ca: string | undefined;
  readonly client: { readonly certificate: string; readonly key: string } | undefined;
}

/** @throws Error for a login with an empty or missing file */
export async function readAccessFiles({ loginDirectory, tls }: IronicOptions): Promise<AccessFiles> {
  const [username, password, ca, certificate, key] = await Promise.all([
    textOf(loginDirectory && join(loginDirectory, 'username')),
    textOf(loginDirectory && join(loginDirectory, 'password')),
    textOf(tls.caFile),
    textOf(tls.certificateFile),
    textOf(tls.keyFile),
  ]);
  const hasLogin = username !== undefined || password !== undefined;
  if (hasLogin && (blank(username) || blank(password)))
    throw new Error(`expected a user name and a password for Ironic in ${loginDirectory}/username and /password`);
  return {
    login: hasLogin
      ? { username: (username ?? '').trim(), password: new Password((password ?? '').trim()) }
      : undefined,
    ca,
    client: certificate === undefined || key === undefined ? undefined : { certificate, key },
  };
}

const blank = (text: string | undefined): boolean => text === undefined || text.trim() === '';

/** Undefined for a file that does not exist. */
async function textOf(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw error;
  }
}
