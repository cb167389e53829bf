import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Authority, KeyPair } from './certificates.ts';

export function kubeconfig({
  url,
  caPem,
  user,
  client,
}: {
  url: string;
  caPem: string;
  user: string;
  client: KeyPair;
}): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'metal', cluster: { server: url, 'certificate-authority-data': base64(caPem) } }],
    users: [
      {
        name: user,
        user: { 'client-certificate-data': base64(client.certificatePem), 'client-key-data': base64(client.keyPem) },
      },
    ],
    contexts: [{ name: 'metal', context: { cluster: 'metal', user } }],
    'current-context': 'metal',
  });
}

/** Issues a client certificate for the user and writes it with the address of the API server. Returns the file's path. */
export async function writeUserKubeconfig(
  { directory, url, caPem }: { directory: string; url: string; caPem: string },
  authority: Authority,
  user: string,
  groups: readonly string[],
): Promise<string> {
  const client = await authority.issue({ commonName: user, organizations: groups });
  const path = join(directory, `kubeconfig-${encodeURIComponent(user)}`);
  await writeFile(path, kubeconfig({ url, caPem, user, client }), { mode: 0o600 });
  return path;
}
