import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
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
  { caches, macPrefixes, discoveryLimiter }: OperatorContext,
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
    nextLoginInMs: pauseBeforeAttempt(logins, now),
  };
}

function bmcStateOf(bmc: BMC | undefined, endpoint: Endpoint): EndpointFacts['bmc'] {
  if (bmc === undefined) return 'absent';
  return bmc.spec?.endpointRef?.name === endpoint.metadata.name ? 'present' : 'foreign';
}
