import { X509Certificate } from 'node:crypto';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { decommissionedAnnotation } from '@metal/api/wire/contract.ts';
import type { ObjectMeta } from '@metal/kube/kinds/kind.ts';
import { type BmcEndpoint, Password } from '@metal/redfish/http/bmc.ts';
import type { BmcTls } from '@metal/redfish/endpoint.ts';
import { addressFault } from './address-fault.ts';
import type { OperatorConfig } from '../options.ts';
import type { OperatorCaches } from '../caches.ts';
import { secretValue } from './credentials.ts';
import { recordedCertificateOf } from './trusted-certificate.ts';
import { hasUnusableCredentials } from './unusable-credentials.ts';

/** Address and credentials of a BMC. */
export interface Connection {
  readonly endpoint: BmcEndpoint;
  readonly username: string;
  readonly password: Password;
}

/** Both have the same address, account and trusted certificates. */
export function isSameConnection(a: Connection | undefined, b: Connection): boolean {
  if (a === undefined) return false;
  return (
    a.username === b.username &&
    a.password.reveal() === b.password.reveal() &&
    endpointFields.every((fieldOf) => fieldOf(a.endpoint) === fieldOf(b.endpoint))
  );
}

type EndpointField = Exclude<keyof BmcEndpoint, 'tls'> | keyof BmcTls;

/** Compared field by field in every reconcile: serializing the trusted bundle, 200 kB for some, would cost more than the rest. */
const endpointFields = Object.values<(endpoint: BmcEndpoint) => unknown>({
  scheme: ({ scheme }) => scheme,
  host: ({ host }) => host,
  port: ({ port }) => port,
  fingerprint: ({ tls }) => tls?.fingerprint,
  insecureSkipVerify: ({ tls }) => tls?.insecureSkipVerify,
  caPem: ({ tls }) => tls?.caPem,
  recordedFingerprint: ({ tls }) => tls?.recordedFingerprint,
} satisfies Record<EndpointField, (endpoint: BmcEndpoint) => unknown>);

/** Why there is no connection to try, as reason and message of a condition. */
export interface ConnectionBlocker {
  readonly reason:
    | 'BMCDecommissioned'
    | 'CredentialsUnusable'
    | 'SpecMissing'
    | 'NoBMC'
    | 'AddressMissing'
    | 'AddressInvalid'
    | 'CertificateInvalid'
    | 'EndpointNotFound'
    | 'UnsupportedProtocol'
    | 'BMCSecretNotFound'
    | 'BMCSecretIncomplete';
  readonly message: string;
}

export type Resolution =
  | { connection: Connection; blocker?: never }
  | { connection?: never; blocker: ConnectionBlocker };

type Sources = Pick<OperatorCaches, 'endpoints' | 'bmcSecrets'>;
type Protocol = NonNullable<BMC['spec']>['protocol'];

const supportedProtocols = ['Redfish', 'RedfishLocal', 'RedfishWithRegistryPatch'];

const decommissioned: ConnectionBlocker = {
  reason: 'BMCDecommissioned',
  message: 'its servers are decommissioned, and nothing is sent to it; recommission one of them to use it again',
};

const credentialsUnusable = (name: string): ConnectionBlocker => ({
  reason: 'CredentialsUnusable',
  message: `it was reset to factory settings, so BMCSecret "${name}" is out of date; write its present account there`,
});

/** Address and credentials of a BMC object. `spec.access` wins over `spec.endpointRef`. */
export function connectionOf(bmc: BMC, sources: Sources, config: OperatorConfig): Resolution {
  if (bmc.metadata.annotations?.[decommissionedAnnotation] !== undefined) return { blocker: decommissioned };
  const spec = bmc.spec;
  if (spec === undefined) return blocker('SpecMissing', 'the BMC has no spec; give protocol, bmcSecretRef and access');
  const address = addressOf(bmc, sources);
  if (address.ip === undefined) return { blocker: address.blocker };
  if (hasUnusableCredentials(bmc, sources.bmcSecrets.get(spec.bmcSecretRef.name)))
    return { blocker: credentialsUnusable(spec.bmcSecretRef.name) };
  const endpoint = endpointOf(address.ip, { metadata: bmc.metadata, protocol: spec.protocol }, config);
  return resolve(endpoint, spec, sources);
}

/** The same for a server with an inline BMC. */
export function inlineConnectionOf(server: Server, sources: Sources, config: OperatorConfig): Resolution {
  const inline = server.spec?.bmc;
  if (inline === undefined) return blocker('NoBMC', 'neither spec.bmcRef nor spec.bmc is set; set one of them');
  if (hasUnusableCredentials(server, sources.bmcSecrets.get(inline.bmcSecretRef.name)))
    return { blocker: credentialsUnusable(inline.bmcSecretRef.name) };
  const endpoint = endpointOf(inline.address, { metadata: server.metadata, protocol: inline.protocol }, config);
  return resolve(endpoint, inline, sources);
}

/** Credentials alone, for protocols other than Redfish. */
export function credentialsIn(
  { name }: { readonly name: string },
  { bmcSecrets }: Pick<Sources, 'bmcSecrets'>,
): { username: string; password: Password } | { blocker: ConnectionBlocker } {
  const secret = bmcSecrets.get(name);
  if (secret === undefined)
    return {
      blocker: {
        reason: 'BMCSecretNotFound',
        message: `BMCSecret "${name}" does not exist; create it with keys username and password`,
      },
    };
  const username = secretValue(secret, 'username');
  const password = secretValue(secret, 'password');
  if (username !== undefined && password !== undefined) return { username, password: new Password(password) };
  return {
    blocker: {
      reason: 'BMCSecretIncomplete',
      message: `BMCSecret "${name}" lacks key ${username === undefined ? 'username' : 'password'}; expected username and password`,
    },
  };
}

/** MAC and IP address of the BMC, from its spec or its Endpoint. */
export function addressOf(
  bmc: BMC,
  { endpoints }: Pick<Sources, 'endpoints'>,
): { ip?: string | undefined; macAddress?: string | undefined; blocker: ConnectionBlocker } {
  const { access, endpointRef } = bmc.spec ?? {};
  const noAddress: ConnectionBlocker = {
    reason: 'AddressMissing',
    message: 'neither spec.access.ip nor the referenced Endpoint gives an IP address; set one',
  };
  if (access !== undefined)
    return { ip: nonEmpty(access.ip), macAddress: nonEmpty(access.macAddress), blocker: noAddress };
  const endpoint = endpoints.get(endpointRef?.name ?? '');
  if (endpoint === undefined) {
    return {
      blocker: {
        reason: 'EndpointNotFound',
        message: `Endpoint "${endpointRef?.name ?? ''}" of spec.endpointRef does not exist; create it or use spec.access`,
      },
    };
  }
  return { ip: nonEmpty(endpoint.spec?.ip), macAddress: nonEmpty(endpoint.spec?.macAddress), blocker: noAddress };
}

function resolve(
  endpoint: BmcEndpoint,
  { protocol, bmcSecretRef }: { readonly protocol: Protocol; readonly bmcSecretRef: { readonly name: string } },
  sources: Sources,
): Resolution {
  if (!supportedProtocols.includes(protocol.name)) {
    return blocker(
      'UnsupportedProtocol',
      `protocol "${protocol.name}" is not supported; expected one of ${supportedProtocols.join(', ')}`,
    );
  }
  const fault = addressFault(endpoint);
  if (fault !== undefined) return blocker('AddressInvalid', fault);
  if (!isCertificate(protocol.tls?.caBundle))
    return blocker('CertificateInvalid', 'protocol.tls.caBundle holds no certificate; expected PEM text');
  const credentials = credentialsIn(bmcSecretRef, sources);
  if ('blocker' in credentials) return credentials;
  return { connection: { endpoint, ...credentials } };
}

/** What an object has of the trust in its BMC. */
interface TrustingObject {
  readonly metadata: Pick<ObjectMeta, 'annotations'>;
  readonly protocol: Protocol;
}

/** Address of a BMC, with the operator's defaults for scheme and trust. */
export function endpointOf(host: string, { metadata, protocol }: TrustingObject, config: OperatorConfig): BmcEndpoint {
  const scheme = protocol.scheme === 'http' || protocol.scheme === 'https' ? protocol.scheme : config.defaultScheme;
  const { caBundle, fingerprint, insecureSkipVerify } = protocol.tls ?? {};
  const caPem = config.bmcAuthorities.with(caBundle);
  const recordedFingerprint = recordedCertificateOf(metadata, config);
  return {
    scheme,
    host,
    port: protocol.port,
    tls: {
      ...(caPem === undefined ? {} : { caPem }),
      ...(fingerprint === undefined ? {} : { fingerprint }),
      ...(recordedFingerprint === undefined ? {} : { recordedFingerprint }),
      insecureSkipVerify: insecureSkipVerify ?? config.skipCertificateValidation,
    },
  };
}

/** An unreadable bundle would count as empty: every certificate would be rejected without an explanation. */
function isCertificate(pem: string | undefined): boolean {
  if (pem === undefined || pem.trim() === '') return true;
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

const blocker = (reason: ConnectionBlocker['reason'], message: string): Resolution => ({
  blocker: { reason, message },
});
const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);
