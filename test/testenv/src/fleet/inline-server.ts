import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Testenv } from '../testenv.ts';

/** Creates a Server with an inline BMC, as a user without a BMC object writes it. */
export async function addInlineServer(
  testenv: Testenv,
  node: Node,
  spec: Partial<Server['spec']> = {},
): Promise<Server> {
  const name = `inline-${node.name}`;
  await testenv.client.create(BMCSecret, {
    metadata: { name },
    stringData: { username: 'admin', password: 'fleet-password' },
  });
  return testenv.client.create(Server, {
    metadata: { name },
    spec: {
      systemUUID: node.uuid.toUpperCase(),
      bmc: {
        protocol: {
          name: 'Redfish',
          port: testenv.fleet.port,
          scheme: node.bmc.identity === undefined ? 'http' : 'https',
        },
        address: node.bmc.address,
        bmcSecretRef: { name },
      },
      ...spec,
    },
  });
}
