import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { act, type Decision, type PhaseTable, rest, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import type { EndpointAction, EndpointFacts, EndpointPhase } from './facts.ts';
import type { EndpointReason } from './reasons.ts';

const row = rowsOf<EndpointPhase, EndpointFacts, EndpointAction, EndpointReason>();

const supportedProtocols = ['Redfish', 'RedfishLocal', 'RedfishWithRegistryPatch'];
const queuedMessage = 'devices that became known earlier are made servers first';
const resyncMs = minutes(60);

/** An address on the management network becomes a BMC object, once. The BMC controller does the rest. */
export const endpointTable: PhaseTable<EndpointPhase, EndpointFacts, EndpointAction, EndpointReason> = {
  Present: row([], (endpoint) => {
    const blocker = blockerOf(endpoint);
    if (blocker !== undefined) return wait(resyncMs, ...blocker);
    const next = nextStep(endpoint);
    // An Endpoint that waits for something else takes no place in the queue: it could not use its slot.
    if (next.kind !== 'act' || endpoint.discovery === 'admitted') return next;
    if (endpoint.discovery === 'notQueued') return act('queueDiscovery', 'OthersFirst');
    return wait(seconds(30), 'OthersFirst', queuedMessage, minutes(2));
  }),
};

function nextStep(endpoint: EndpointFacts): Decision<never, EndpointAction, EndpointReason> {
  if (endpoint.secret === 'absent') return findCredential(endpoint);
  return endpoint.bmc === 'absent' ? act('createBmc', 'DeviceIsBMC') : rest;
}

/** A single default credential is used untested: the BMC controller reports a rejection. Several are tried, one per reconcile. */
function findCredential({
  device,
  logins,
  nextLoginInMs,
}: EndpointFacts): Decision<never, EndpointAction, EndpointReason> {
  const count = device?.defaultCredentials?.length ?? 0;
  if (count === 1 || logins.accepted !== undefined) return act('createSecret', 'CredentialsFromDatabase');
  if (logins.rejected >= count)
    return wait(
      resyncMs,
      'DefaultCredentialsRejected',
      `the device rejected all ${count} default credentials; create a BMCSecret with the name of this Endpoint and the right ones`,
    );
  if (nextLoginInMs <= 0) return act('tryCredential', 'TryingDefaultCredentials');
  if (logins.failure !== undefined)
    return wait(nextLoginInMs, 'DeviceUnreachable', `${logins.failure.error.message}; tried again by itself`);
  return wait(
    nextLoginInMs,
    'TryingDefaultCredentials',
    `the device rejected ${logins.rejected} of ${count} default credentials; the next is tried after a pause`,
  );
}

type Blocked = [reason: EndpointReason, message: string];

const blockerOf = (endpoint: EndpointFacts): Blocked | undefined =>
  addressBlocker(endpoint) ?? deviceBlocker(endpoint) ?? credentialBlocker(endpoint);

function addressBlocker({ macAddress, duplicates }: EndpointFacts): Blocked | undefined {
  if (macAddress === '')
    return ['MACAddressMissing', 'spec.macAddress is empty; set it, or create a BMC object with spec.access instead'];
  const [first] = duplicates.before;
  if (first === undefined) return undefined;
  return ['DuplicateMACAddress', `Endpoint ${first} has ${macAddress} already; correct or delete one of the two`];
}

function deviceBlocker({ macAddress, ip, device, databaseSize }: EndpointFacts): Blocked | undefined {
  if (device === undefined)
    return [
      'UnknownMACPrefix',
      `${macAddress} matches none of ${databaseSize} MAC prefixes; add one to --mac-prefixes-file and restart the operator, or create a BMC with spec.access`,
    ];
  if (device.type !== 'bmc')
    return [
      'NotABMC',
      `the MAC prefix database says that ${macAddress} is of type "${device.type}"; only "bmc" is managed`,
    ];
  if (ip === '') return ['IPAddressMissing', 'spec.ip is empty; set the address of the device'];
  if (supportedProtocols.includes(device.protocol)) return undefined;
  return [
    'UnsupportedProtocol',
    `the MAC prefix database names protocol "${device.protocol}"; expected one of ${supportedProtocols.join(', ')}`,
  ];
}

function credentialBlocker({ device, bmc, secret }: EndpointFacts): Blocked | undefined {
  if (secret === 'absent' && (device?.defaultCredentials ?? []).length === 0)
    return [
      'NoDefaultCredentials',
      `MAC prefix ${device?.macPrefix ?? ''} has no defaultCredentials; add one and restart, or create a BMCSecret with the name of this Endpoint`,
    ];
  if (bmc !== 'foreign') return undefined;
  return [
    'NameTaken',
    'a BMC of this name exists that does not refer to this endpoint; rename or delete one of the two',
  ];
}
