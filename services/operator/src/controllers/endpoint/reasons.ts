import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

/** Every reason the Endpoint controller gives. */
export const endpointReasons = {
  BMCCreated: {
    meaning: 'A BMC object represents the address.',
    remedy: 'Nothing; see the BMC.',
    weight: 'ok',
    actor: 'operator',
    pointsTo: 'BMC',
  },
  CredentialsFromDatabase: {
    meaning: 'The BMCSecret is made from the default credentials of the MAC prefix database, once.',
    remedy: 'Nothing.',
    weight: 'working',
    actor: 'operator',
  },
  OthersFirst: {
    meaning: 'Very many devices became known at once; those that came before this one are made servers first.',
    remedy: 'Nothing; it begins by itself.',
    weight: 'waiting',
    actor: 'operator',
  },
  DeviceIsBMC: { meaning: 'The BMC object is made.', remedy: 'Nothing.', weight: 'working', actor: 'operator' },
  CertificateTrusted: {
    meaning:
      'The certificate of the device, of no known authority, is recorded in the annotation metal.ironcore.dev/trusted-certificate before a default credential is sent (--bmc-tls=pin). The BMC object gets the same.',
    remedy: 'Nothing, or compare the fingerprint in the event with the BMC.',
    weight: 'working',
    actor: 'operator',
  },
  TryingDefaultCredentials: {
    meaning:
      'The database has several default credentials; they are tried one by one, slowly enough not to lock the account.',
    remedy: 'Nothing, or create a BMCSecret with the name of the Endpoint.',
    weight: 'working',
    actor: 'operator',
  },
  DefaultCredentialsRejected: {
    meaning: 'The device rejected every default credential of the database.',
    remedy: 'Create a BMCSecret with the name of the Endpoint and the right user name and password.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl create -f BMCSECRET.yaml',
  },
  DeviceUnreachable: {
    meaning: 'The device could not be asked which of its default credentials are right.',
    remedy: 'See the message; it is tried again by itself.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl describe endpoints.metal.ironcore.dev {name}',
  },
  MACAddressMissing: {
    meaning: 'The Endpoint has no MAC address.',
    remedy: 'Set spec.macAddress, or create a BMC object with spec.access.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl edit endpoints.metal.ironcore.dev {name}',
  },
  IPAddressMissing: {
    meaning: 'The Endpoint has no IP address.',
    remedy: 'Set spec.ip.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl edit endpoints.metal.ironcore.dev {name}',
  },
  UnknownMACPrefix: {
    meaning: 'The MAC prefix database does not know the device.',
    remedy: 'Add its prefix to the file of --mac-prefixes-file, or create a BMC object with spec.access.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl get endpoints.metal.ironcore.dev {name} -o jsonpath={.spec.macAddress}',
  },
  NotABMC: {
    meaning: 'The MAC prefix database says that the device is no BMC.',
    remedy: 'Nothing, if that is true.',
    weight: 'ok',
    actor: 'operator',
  },
  UnsupportedProtocol: {
    meaning: 'The MAC prefix database names a protocol that is not spoken here.',
    remedy: 'Correct the protocol of the entry.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl get endpoints.metal.ironcore.dev {name} -o jsonpath={.spec.macAddress}',
  },
  NoDefaultCredentials: {
    meaning: 'The entry of the MAC prefix database has no default credentials.',
    remedy: 'Add one, or create a BMCSecret with the name of the Endpoint.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl create -f BMCSECRET.yaml',
  },
  DuplicateMACAddress: {
    meaning: 'Several Endpoints have this MAC address; only the first of them is acted on.',
    remedy: 'Correct or delete the others.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl get endpoints.metal.ironcore.dev',
  },
  Unique: { meaning: 'No other Endpoint has this MAC address.', remedy: 'Nothing.', weight: 'ok', actor: 'operator' },
  NameTaken: {
    meaning: 'A BMC of this name exists that does not belong to the Endpoint.',
    remedy: 'Rename or delete one of the two.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe bmc {name}',
  },
} as const satisfies ReasonCatalogue;

export type EndpointReason = keyof typeof endpointReasons;
