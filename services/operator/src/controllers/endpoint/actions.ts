import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { bmcFinalizer, trustedCertificateAnnotation } from '@metal/api/wire/contract.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { ownedBy } from '@metal/kube/kinds/kind.ts';
import { Password } from '@metal/redfish/http/bmc.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import { verifyLogin } from '@metal/redfish/resources/login.ts';
import { refreshBmc } from '../../bmc-connections/refresh-bmc.ts';
import { connectionOf, endpointOf } from '../../bmc-connections/connection.ts';
import { certificateToRecord, recordCertificate } from '../../bmc-connections/trusted-certificate.ts';
import type { OperatorContext } from '../context.ts';
import { StaleDecision } from '../../errors.ts';
import { afterFailure, afterSuccess } from './login-attempts.ts';
import type { MacPrefix } from '@metal/api/mac-prefixes.ts';
import type { EndpointAction, EndpointFacts } from './facts.ts';
import type { EndpointMemory } from './memory.ts';

/** A BMC that responds at all responds within this; for others the BMC object reports why not. */
const firstObserveTimeoutMs = seconds(2);

type EndpointReconcile = Reconcile<Endpoint, EndpointFacts, OperatorContext, EndpointMemory>;

export const endpointActions: Record<EndpointAction, (reconcile: EndpointReconcile) => Promise<void>> = {
  queueDiscovery,
  tryCredential: countedInFlight(tryCredential),
  createSecret: countedInFlight(createSecret),
  createBmc: countedInFlight(createBmc),
};

/** The key is enqueued when a slot is free. */
async function queueDiscovery({ object, context }: EndpointReconcile): Promise<void> {
  context.discoveryLimiter.enqueue(object.metadata.name);
  await Promise.resolve();
}

/** An Endpoint takes a slot with its first action. */
function countedInFlight(
  action: (reconcile: EndpointReconcile) => Promise<void>,
): (reconcile: EndpointReconcile) => Promise<void> {
  return (reconcile) => {
    reconcile.context.discoveryLimiter.acquire(reconcile.object.metadata.name);
    return action(reconcile);
  };
}

/** One login with the next credential. A device that rejects it, or does not respond, is an expected outcome. */
async function tryCredential(reconcile: EndpointReconcile): Promise<void> {
  const { object, facts, context, memory, now } = reconcile;
  const { bmcConnections, config } = context;
  const device = deviceOf(facts);
  const { username, password } = credentialOf(facts, facts.logins.rejected);
  const protocol = protocolOf(device);
  const connectionKey = `endpoint/${object.metadata.name}`;
  const connection = {
    endpoint: endpointOf(facts.ip, { metadata: object.metadata, protocol }, config),
    username,
    password: new Password(password),
  };
  try {
    await verifyLogin(bmcConnections.getBmc(connectionKey, connection));
    memory.logins = afterSuccess(facts.logins, now);
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    const certificate = certificateToRecord(error, device.tls, config);
    // Nothing was sent: the next decision tries the same credential over a connection that trusts the certificate.
    if (certificate !== undefined) return await recordCertificate(Endpoint, reconcile, certificate);
    memory.logins = afterFailure(facts.logins, error, now);
  } finally {
    bmcConnections.forgetBmc(connectionKey);
  }
}

/** Created once and never overwritten: the password may have been rotated or corrected since. */
async function createSecret({ object, facts, context }: EndpointReconcile): Promise<void> {
  const credential = credentialOf(facts, facts.logins.accepted ?? 0);
  await context.client.create(BMCSecret, {
    metadata: { name: object.metadata.name, ownerReferences: [ownedBy(object)] },
    data: { username: base64(credential.username), password: base64(credential.password) },
  });
}

/**
 * Reads the BMC first, so that its object is created with the UUID of its manager, as in v0.7.0. The observation and the session
 * belong to the BMC controller from then on. For a BMC that does not respond quickly the object is created at once.
 */
async function createBmc(reconcile: EndpointReconcile): Promise<void> {
  const { object, context } = reconcile;
  const { name } = object.metadata;
  const spec = specOf(object, deviceOf(reconcile.facts));
  const { apiVersion, kind } = BMC;
  const recorded = object.metadata.annotations?.[trustedCertificateAnnotation];
  const metadata = { name, ...(recorded ? { annotations: { [trustedCertificateAnnotation]: recorded } } : {}) };
  const bmcUUID = await managerUuidOf({ apiVersion, kind, metadata, spec }, reconcile);
  await context.client.create(BMC, {
    metadata: { ...metadata, ownerReferences: [ownedBy(object)], finalizers: [bmcFinalizer] },
    spec: { ...spec, ...(bmcUUID === undefined ? {} : { bmcUUID }) },
  });
}

function specOf({ metadata: { name } }: Endpoint, device: MacPrefix): NonNullable<BMC['spec']> {
  const { console } = device;
  return {
    endpointRef: { name },
    bmcSecretRef: { name },
    protocol: protocolOf(device),
    ...(console ? { consoleProtocol: { name: console.type, port: console.port } } : {}),
  };
}

function protocolOf({ protocol, port, protocolScheme, tls }: MacPrefix): NonNullable<BMC['spec']>['protocol'] {
  return { name: protocol, port, ...(protocolScheme ? { scheme: protocolScheme } : {}), ...(tls ? { tls } : {}) };
}

async function managerUuidOf(bmc: BMC, { context }: EndpointReconcile): Promise<string | undefined> {
  const { bmcConnections, clock, caches, config } = context;
  const { name } = bmc.metadata;
  const { connection } = connectionOf(bmc, caches, config);
  if (connection === undefined) return undefined;
  const { observation, triedAt } = bmcConnections.observedBmc(name, connection);
  if (triedAt !== undefined) return observation?.manager?.uuid;
  const limit = new AbortController();
  using _timer = clock.setTimeout(firstObserveTimeoutMs, () => limit.abort());
  const seen = await refreshBmc(context, name, connection, limit).catch((error: unknown) => {
    if (limit.signal.aborted) return undefined;
    throw error;
  });
  return seen?.manager?.uuid;
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
