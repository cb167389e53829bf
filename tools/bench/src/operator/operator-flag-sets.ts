/** Flags of an operator implementation, and the parts that the bench must stub. */
export interface OperatorFlagSet {
  readonly summary: string;
  /** Added to the command; the words in braces are those of `--operator`. */
  readonly flags: readonly string[];
  /** Logs `running` when its caches are warm, boots machines, and waits for their boot reports. */
  readonly isOurs: boolean;
  /** Lease duration of the leader election. */
  readonly leaseSeconds: number;
}

const common = [
  '--kubeconfig={kubeconfig}',
  '--mac-prefixes-file={macPrefixes}',
  '--registry-port={registryPort}',
  '--registry-url=http://127.0.0.1:{registryPort}',
  '--probe-image=bench/probe',
  '--probe-os-image=bench/probe',
  '--metrics-secure=false',
  '--metrics-bind-address=127.0.0.1:{metricsPort}',
];

export const operatorFlagSets = {
  ours: {
    summary: 'those of this release, for an older checkout of it as well',
    flags: [
      ...common,
      '--protocol=http',
      '--zap-encoder=json',
      '--boot-port={bootPort}',
      '--boot-url=http://127.0.0.1:{bootPort}',
      '--boot-images={bootImages}',
      '--health-probe-bind-address=0',
      '--cleanup-disks=Metadata',
      // The number of concurrent cleanups is a site policy, not a limit of the operator.
      '--cleanup-at-once={servers}',
      '--cleanup-per-hour={servers}',
    ],
    isOurs: true,
    leaseSeconds: 15,
  },
  'v0.7.0': {
    summary: 'those of metal-operator v0.7.0, at its defaults',
    flags: [
      ...common,
      '--insecure',
      '--health-probe-bind-address=127.0.0.1:{healthPort}',
      '--event-port={eventPort}',
      '--event-url=http://127.0.0.1:{eventPort}',
      '--discovery-ignition-path={ignitionTemplate}',
    ],
    isOurs: false,
    leaseSeconds: 15,
  },
  none: { summary: 'none: the command has all flags', flags: [], isOurs: false, leaseSeconds: 15 },
} as const satisfies Record<string, OperatorFlagSet>;

export type OperatorFlagSetName = keyof typeof operatorFlagSets;
export const operatorFlagSetNames = Object.keys(operatorFlagSets) as OperatorFlagSetName[]; // the keys of a constant
