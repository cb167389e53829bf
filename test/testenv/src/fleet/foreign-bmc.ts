import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';

interface BmcAccess {
  readonly port: number;
  readonly scheme: 'http' | 'https';
  readonly username: string;
  readonly password: string;
  readonly caPem?: string;
}

/** Creates a BMC outside of the fleet, with its credentials. */
export async function addForeignBmc(client: KubeClient, name: string, access: BmcAccess): Promise<void> {
  const { port, scheme, username, password, caPem } = access;
  await client.create(BMCSecret, { metadata: { name }, stringData: { username, password } });
  await client.create(BMC, {
    metadata: { name },
    spec: {
      access: { ip: '127.0.0.1', macAddress: '52:54:00:ff:ff:01' },
      bmcSecretRef: { name },
      protocol: { name: 'Redfish', port, scheme, ...(caPem === undefined ? {} : { tls: { caBundle: caPem } }) },
    },
  });
}
