import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { bmcFinalizer } from '@metal/api/wire/contract.ts';
import type { Turn } from '@metal/kube/controller.ts';
import { ownedBy } from '@metal/kube/kind.ts';
import type { OperatorContext } from '../../context.ts';
import { StaleDecision } from '../../errors.ts';
import type { MacPrefix } from '../../mac-prefixes.ts';
import type { EndpointAction, EndpointFacts } from './facts.ts';

type EndpointTurn = Turn<Endpoint, EndpointFacts, OperatorContext>;

export const endpointActions: Record<EndpointAction, (turn: EndpointTurn) => Promise<void>> = {
  createSecret,
  createBmc,
};

/** Created once and never overwritten: the password may have been rotated or corrected since. */
async function createSecret({ object, facts, context }: EndpointTurn): Promise<void> {
  const [credential] = deviceOf(facts).defaultCredentials ?? [];
  if (credential === undefined) throw new StaleDecision('the MAC prefix database entry lost its credentials');
  await context.client.create(BMCSecret, {
    metadata: { name: object.metadata.name, ownerReferences: [ownedBy(object)] },
    data: { username: base64(credential.username), password: base64(credential.password) },
  });
}

async function createBmc({ object, facts, context }: EndpointTurn): Promise<void> {
  const { name } = object.metadata;
  const device = deviceOf(facts);
  await context.client.create(BMC, {
    metadata: { name, ownerReferences: [ownedBy(object)], finalizers: [bmcFinalizer] },
    spec: {
      endpointRef: { name },
      bmcSecretRef: { name },
      protocol: {
        name: device.protocol,
        port: device.port,
        ...(device.protocolScheme ? { scheme: device.protocolScheme } : {}),
      },
      ...(device.console ? { consoleProtocol: { name: device.console.type, port: device.console.port } } : {}),
    },
  });
}

function deviceOf({ device }: EndpointFacts): MacPrefix {
  if (device === undefined) throw new StaleDecision('the MAC prefix database no longer knows this address');
  return device;
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
