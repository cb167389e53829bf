import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Authority, createAuthority, type KeyPair, loadAuthority, serviceAccountKeys } from './certificates.ts';

/** The certificates of one control plane, as files for its processes. */
export interface Pki {
  readonly authority: Authority;
  readonly admin: KeyPair;
  path(name: string): string;
}

/**
 * Creates the certificates in the directory. The authority and the service account keys of a persistent control plane stay, so
 * that kubeconfigs and tokens of an earlier start stay valid; the other certificates are issued at every start.
 */
export async function preparePki(directory: string): Promise<Pki> {
  const home = join(directory, 'pki');
  const path = (name: string) => join(home, name);
  await mkdir(home, { recursive: true, mode: 0o700 });
  if (!existsSync(path('ca.crt'))) await create(path);
  const authority = await readAuthority(directory);
  const server = await authority.issue({
    commonName: 'kube-apiserver',
    dnsNames: ['localhost', 'kubernetes', 'kubernetes.default.svc'],
    ipAddresses: ['127.0.0.1', '10.0.0.1'],
  });
  await writeAll(path, { 'server.crt': server.certificatePem, 'server.key': server.keyPem });
  const admin = await authority.issue({ commonName: 'admin', organizations: ['system:masters'] });
  return { authority, admin, path };
}

/** The authority of the control plane with this data directory. */
export async function readAuthority(directory: string): Promise<Authority> {
  const read = (name: string) => readFile(join(directory, 'pki', name), 'utf8');
  return loadAuthority(await read('ca.crt'), await read('ca.key'));
}

async function create(path: (name: string) => string): Promise<void> {
  const [authority, accounts] = await Promise.all([
    createAuthority('metal-operator-control-plane'),
    serviceAccountKeys(),
  ]);
  await writeAll(path, {
    'service-account.key': accounts.privatePem,
    'service-account.pub': accounts.publicPem,
    'ca.key': authority.keyPem,
    // Last: its presence means that the set is complete.
    'ca.crt': authority.certificatePem,
  });
}

async function writeAll(path: (name: string) => string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(path(name), text, { mode: 0o600 });
}
