import type { ReasonCatalogue } from '@metal/kube/decide.ts';

/** Why an Endpoint is, or is not yet, a BMC. */
export const endpointReasons = {
  MACAddressMissing: {
    meaning: 'The Endpoint has no MAC address, and only by its prefix would the device be recognised.',
    remedy: 'Set spec.macAddress, or create a BMC object with spec.access instead.',
  },
  UnknownMACPrefix: {
    meaning: 'No prefix of the MAC prefix database matches the address.',
    remedy:
      'Add the prefix to the file of --mac-prefixes-file and start the operator anew, or create a BMC object with spec.access.',
  },
  NotABMC: {
    meaning: 'The MAC prefix database knows the device as something else than a BMC.',
    remedy: 'Nothing, if that is right; otherwise correct the type in the database and start the operator anew.',
  },
  IPAddressMissing: {
    meaning: 'The device is known, but not the address under which it is reached.',
    remedy: 'Set spec.ip, or repair what writes Endpoints from DHCP leases.',
  },
  UnsupportedProtocol: {
    meaning: 'The MAC prefix database names a protocol that is not spoken here.',
    remedy: 'Correct the protocol of the prefix to Redfish and start the operator anew.',
  },
  NoDefaultCredentials: {
    meaning: 'The prefix has no credentials to log in with for the first time.',
    remedy: 'Add defaultCredentials to the prefix, or create BMCSecret and BMC by hand.',
  },
  DuplicateMACAddress: {
    meaning: 'Another Endpoint has the same MAC address, in whatever notation; only the older of the two is acted on.',
    remedy: 'Correct or delete one of the two.',
  },
  Unique: { meaning: 'No other Endpoint has the MAC address.', remedy: 'Nothing; this is as it should be.' },
  NameTaken: {
    meaning: 'A BMC of the name of this Endpoint exists and does not refer to it.',
    remedy: 'Rename or delete one of the two.',
  },
  CredentialsFromDatabase: {
    meaning: 'The BMCSecret is being created from the default credentials of the prefix.',
    remedy: 'Nothing; the BMC object follows at once.',
  },
  DeviceIsBMC: {
    meaning: 'The device is a BMC, and its BMC object is being created.',
    remedy: 'Nothing; the BMC object tells how it goes on.',
  },
  BMCCreated: {
    meaning: 'A BMC object represents this address.',
    remedy: 'Nothing; whether the BMC answers is said by the BMC object.',
  },
} as const satisfies ReasonCatalogue;

export type EndpointReason = keyof typeof endpointReasons;
