import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { recordedCertificateOf } from '../../bmc-connections/trusted-certificate.ts';
import type { OperatorConfig } from '../../options.ts';
import type { OperatorContext } from '../context.ts';
import { type LoginAttempts, pauseBeforeAttempt } from './login-attempts.ts';
import type { EndpointMemory } from './memory.ts';
import { hasBmcIn, macIdentityOf, type DuplicateEndpoints, duplicatesOf } from '@metal/api/mac-address.ts';
import { type MacPrefix } from '@metal/api/mac-prefixes.ts';

export type EndpointPhase = 'Present';
export type EndpointAction = 'queueDiscovery' | 'tryCredential' | 'createSecret' | 'createBmc';

export interface EndpointFacts {
  readonly macAddress: string;
  readonly ip: string;
  /** Other endpoints with this MAC address. */
  readonly duplicates: DuplicateEndpoints;
  readonly databaseSize: number;
  /** Device type of this address, if it is in the database. */
  readonly device: MacPrefix | undefined;
  readonly secret: 'absent' | 'present';
  /** `foreign`: a BMC of this name that another owner created. */
  readonly bmc: 'absent' | 'present' | 'foreign';
  /** Results of logins with the default credentials so far. */
  readonly logins: LoginAttempts;
  readonly nextLoginInMs: number;
  /** Discovery: it may start or has started, waits for a slot, or has not requested one. */
  readonly discovery: 'admitted' | 'queued' | 'notQueued';
}

export function readEndpointFacts(
  endpoint: Endpoint,
  { caches, macPrefixes, discoveryLimiter, config }: OperatorContext,
  { now, memory: { logins } }: { readonly now: number; readonly memory: Readonly<EndpointMemory> },
): EndpointFacts {
  const { name } = endpoint.metadata;
  const macAddress = endpoint.spec?.macAddress ?? '';
  const duplicates = duplicatesOf(
    endpoint,
    caches.endpoints.by('mac', macIdentityOf(macAddress) ?? ''),
    hasBmcIn(caches.bmcs),
  );
  const device = macPrefixes.find(macAddress);
  const bmc = bmcStateOf(caches.bmcs.get(name), endpoint);
  return {
    macAddress,
    ip: endpoint.spec?.ip ?? '',
    duplicates,
    databaseSize: macPrefixes.count,
    device,
    secret: caches.bmcSecrets.get(name) === undefined ? 'absent' : 'present',
    bmc,
    discovery: discoveryLimiter.stateOf(name),
    logins,
    nextLoginInMs: isCertificateAccepted(endpoint, logins, config) ? 0 : pauseBeforeAttempt(logins, now),
  };
}

/** The certificate differed from a record that a person has removed since. */
const isCertificateAccepted = ({ metadata }: Endpoint, { failure }: LoginAttempts, config: OperatorConfig): boolean =>
  failure?.error.code === 'CertificateChanged' && recordedCertificateOf(metadata, config) === undefined;

function bmcStateOf(bmc: BMC | undefined, endpoint: Endpoint): EndpointFacts['bmc'] {
  if (bmc === undefined) return 'absent';
  return bmc.spec?.endpointRef?.name === endpoint.metadata.name ? 'present' : 'foreign';
}
