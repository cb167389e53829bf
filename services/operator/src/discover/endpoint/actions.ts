import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { bmcFinalizer } from '@metal/api/wire/contract.ts';
import type { Turn } from '@metal/kube/controller.ts';
import { ownedBy } from '@metal/kube/kind.ts';
import { Password } from '@metal/redfish/bmc.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import { readManagers } from '@metal/redfish/managers.ts';
import { endpointOf } from '../../connection.ts';
import type { OperatorContext } from '../../context.ts';
import { StaleDecision } from '../../errors.ts';
import { afterFailure, afterSuccess } from '../../login-attempts.ts';
import type { MacPrefix } from '../../mac-prefixes.ts';
import type { EndpointAction, EndpointFacts } from './facts.ts';

type EndpointTurn = Turn<Endpoint, EndpointFacts, OperatorContext>;

export const endpointActions: Record<EndpointAction, (turn: EndpointTurn) => Promise<void>> = {
  tryCredential,
  createSecret,
  createBmc,
};

/** One login with the next credential. A device that rejects it, or does not answer, is an expected outcome. */
async function tryCredential({ object, facts, context, now }: EndpointTurn): Promise<void> {
  const { access, config } = context;
  const device = deviceOf(facts);
  const { username, password } = credentialOf(facts, facts.logins.rejected);
  const protocol = { name: device.protocol, port: device.port, scheme: device.protocolScheme };
  const line = `endpoint/${object.metadata.name}`;
  const connection = { endpoint: endpointOf(facts.ip, protocol, config), username, password: new Password(password) };
  try {
    await readManagers(access.line(line, connection));
    access.rememberLogins(object, afterSuccess(facts.logins, now));
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    access.rememberLogins(object, afterFailure(facts.logins, error, now));
  } finally {
    access.forgetBmc(line);
  }
}

/** Created once and never overwritten: the password may have been rotated or corrected since. */
async function createSecret({ object, facts, context }: EndpointTurn): Promise<void> {
  const credential = credentialOf(facts, facts.logins.accepted ?? 0);
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

function credentialOf(facts: EndpointFacts, index: number): { username: string; password: string } {
  const credential = deviceOf(facts).defaultCredentials?.[index];
  if (credential === undefined) throw new StaleDecision('the MAC prefix database entry lost its credentials');
  return credential;
}

function deviceOf({ device }: EndpointFacts): MacPrefix {
  if (device === undefined) throw new StaleDecision('the MAC prefix database no longer knows this address');
  return device;
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
