import { stringify } from 'yaml';
import type { KeyPair } from './certificates.ts';

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
