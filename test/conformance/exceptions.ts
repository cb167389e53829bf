/**
 * Fields and keywords for which a generated CRD is stricter than the reference (v0.7.0, Metal3), has more values, or lacks what had no effect, each with the reason. Stored objects that violate such a
 * rule stay valid: the API server validates only values that an update changes.
 */
export const exceptions: readonly { kinds: readonly string[]; path: string; keyword: string; reason: string }[] = [
  {
    kinds: ['ServerClaim'],
    path: 'spec.power',
    keyword: 'enum',
    reason:
      'v0.7.0 copied any text to the server, where values other than On and Off had no effect; empty is still accepted',
  },
  {
    kinds: ['Server'],
    path: 'spec.power',
    keyword: 'enum',
    reason: 'values other than On and Off had no effect; empty is still accepted',
  },
  {
    kinds: ['Server'],
    path: 'spec.indicatorLED',
    keyword: 'enum',
    reason: 'Redfish has no other value of IndicatorLED; empty is still accepted',
  },
  {
    kinds: ['BMC'],
    path: 'spec.protocol.scheme',
    keyword: 'enum',
    reason:
      'nothing but http and https could be connected to, and only these spellings were documented; empty is still taken',
  },
  {
    kinds: ['Server'],
    path: 'spec.bmc.protocol.scheme',
    keyword: 'enum',
    reason:
      'nothing but http and https could be connected to, and only these spellings were documented; empty is still taken',
  },
  {
    kinds: ['Endpoint'],
    path: 'spec.ip',
    keyword: 'rules',
    reason: 'one object with an invalid or empty address stopped v0.7.0 from reading all Endpoints',
  },
  {
    kinds: ['Endpoint'],
    path: 'spec.ip',
    keyword: 'maxLength',
    reason: 'no address is that long; the API server requires a limit for the cost of the rule',
  },
  {
    kinds: ['BMC'],
    path: 'spec.access.ip',
    keyword: 'rules',
    reason: 'one object with an invalid or empty address stopped v0.7.0 from reading all BMCs',
  },
  {
    kinds: ['BMC'],
    path: 'spec.access.ip',
    keyword: 'maxLength',
    reason: 'no address is that long; the API server requires a limit for the cost of the rule',
  },
  {
    kinds: ['Endpoint'],
    path: 'spec.macAddress',
    keyword: 'maxLength',
    reason: 'no MAC address is that long; the API server requires a limit for the cost of the rule',
  },
  {
    kinds: ['Endpoint'],
    path: 'spec.macAddress',
    keyword: 'rules',
    reason: 'with other values v0.7.0 made a BMC whose status it could not write; empty is still accepted',
  },
  {
    kinds: ['BMC'],
    path: 'spec.access.macAddress',
    keyword: 'maxLength',
    reason: 'no MAC address is that long; the API server requires a limit for the cost of the rule',
  },
  {
    kinds: ['BMC'],
    path: 'spec.access.macAddress',
    keyword: 'rules',
    reason: 'with other values v0.7.0 could not write the status of the BMC; empty is still accepted',
  },
  {
    kinds: ['BMC', 'Server', 'ServerBootConfiguration'],
    path: 'status.conditions',
    keyword: 'x-kubernetes-list-type',
    reason:
      'two conditions of one type broke the metrics of v0.7.0; keyed by type, several programs can own their conditions',
  },
  {
    kinds: ['BMC', 'Server', 'ServerBootConfiguration'],
    path: 'status.conditions',
    keyword: 'x-kubernetes-list-map-keys',
    reason: 'see the list type',
  },
  {
    kinds: ['BMCSecret'],
    path: '',
    keyword: 'rules',
    reason: 'the validating webhook of v0.7.0 rejected this; now without a webhook',
  },
  {
    kinds: ['Server'],
    path: 'status.networkInterfaces[].ips[]',
    keyword: 'format',
    reason: 'the API server does not know the format ip: it validated nothing, and warned at each apply of the CRD',
  },
  ...['spec.image.format', 'status.lastAttemptedImage.format', 'status.provisioning.image.format'].map((path) => ({
    kinds: ['BareMetalHost'],
    path,
    keyword: 'enum',
    reason: 'more values: the Cluster API provider of Metal3 sends an empty format for a machine without diskFormat',
  })),
  {
    kinds: ['HostClaim'],
    path: 'spec.image.format',
    keyword: 'enum',
    reason: 'more values: as in BareMetalHost',
  },
  {
    kinds: ['BareMetalHost'],
    path: 'status.errorType',
    keyword: 'enum',
    reason: 'more values: Metal3 sets "detach error" too, which its API server rejected with the whole status',
  },
  ...[
    { kinds: ['BareMetalHost'], path: 'status.errorCount' },
    { kinds: ['BareMetalHost'], path: 'status.provisioningFailCount' },
    { kinds: ['HostNetworkAttachment'], path: 'spec.mode' },
  ].map((field) => ({
    ...field,
    keyword: 'required',
    reason: 'without effect: the API server sets the default first',
  })),
  {
    kinds: ['ServerClaim'],
    path: 'spec',
    keyword: 'rules',
    reason: 'they concern claims with diskImage only, a field that v0.7.0 did not have',
  },
];
