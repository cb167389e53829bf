import { Counter, Histogram, type Registry } from 'prom-client';

const perHost = ['namespace', 'host'] as const;

/** Counters of hosts, by the key that the controller uses. Names and labels are those of the baremetal-operator of Metal3. */
const counters = {
  reconciles: ['metal3_reconcile_total', 'Reconciles of BareMetalHosts', perHost],
  reconcileErrors: ['metal3_reconcile_error_total', 'Reconciles that ended with an error', perHost],
  hostErrors: ['metal3_host_error_total', 'Failures that were recorded in a status', ['error_type']],
  powerChanges: ['metal3_operation_power_change_total', 'Power requests', [...perHost, 'on_off']],
  credentialsMissing: ['metal3_credentials_missing_total', 'Reconciles without a Secret of the BMC', perHost],
  credentialsInvalid: ['metal3_credentials_invalid_total', 'Reconciles with an unusable Secret of the BMC', perHost],
  credentialsUnhandledErrors: [
    'metal3_credentials_unhandled_error_total',
    'Reconciles in which the Secret of the BMC could not be read or claimed',
    perHost,
  ],
  credentialsUpdated: ['metal3_credentials_updated_total', 'Changed credentials that the BMC accepted', perHost],
  noManagementAccess: [
    'metal3_credentials_no_management_access_total',
    'Registrations that ended with an error of the back end',
    perHost,
  ],
  hostConfigErrors: [
    'metal3_host_config_data_error_total',
    'Secrets for a config drive without the data',
    ['host_data_type'],
  ],
  // The two underscores are part of the names.
  delayedProvisionings: ['metal3_delayed__provisioning_total', 'Deployments that waited for capacity', perHost],
  delayedDeprovisionings: [
    'metal3_delayed__deprovisioning_total',
    'Removals of a deployment that waited for capacity',
    perHost,
  ],
  stateChanges: [
    'metal3_provisioning_state_change_total',
    'Changes of status.provisioning.state',
    ['prev_state', 'new_state'],
  ],
  registrationsRequired: [
    'metal3_host_registration_required_total',
    'Hosts that their back end did not know any more',
    perHost,
  ],
  unmanaged: ['metal3_host_unmanaged_total', 'Hosts that were found without a BMC', perHost],
  deletedWithoutDeprovisioning: [
    'metal3_delete_without_deprovisioning_total',
    'Deletions that went on although the deprovisioning failed',
    perHost,
  ],
  deletedWithoutPowerOff: [
    'metal3_delete_without_powering_off_total',
    'Deletions that went on although the power-off failed',
    perHost,
  ],
  backEndNotReady: ['metal3_provisioner_not_ready_total', 'Reconciles while the back end answered nobody', perHost],
  deletionsDelayed: [
    'metal3_delete_delayed_for_detached_total',
    'Reconciles of detached hosts whose deletion waits',
    perHost,
  ],
  waitsForImage: [
    'metal3_waiting_for_preprov_image_total',
    'Reconciles that waited for a PreprovisioningImage',
    perHost,
  ],
} as const satisfies Record<string, readonly [name: string, help: string, labels: readonly string[]]>;

export type HostCounter = keyof typeof counters;
export type HostOperation = 'register' | 'inspect' | 'provision' | 'deprovision';

const operationBuckets = [30, 90, 180, 360, 720, 1_440];

/** Metrics of BareMetalHosts. */
export class HostMetrics {
  readonly #counters: ReadonlyMap<HostCounter, Counter>;
  readonly #durations: ReadonlyMap<HostOperation, Histogram>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#counters = new Map(
      hostCounters.map((key) => {
        const [name, help, labelNames] = counters[key];
        return [key, new Counter({ name, help, labelNames: [...labelNames], registers })];
      }),
    );
    this.#durations = new Map(
      (['register', 'inspect', 'provision', 'deprovision'] as const).map((operation) => {
        const name = `metal3_operation_${operation}_duration_seconds`;
        const help = `Duration of the operation ${operation}`;
        const buckets = operation === 'register' ? {} : { buckets: operationBuckets };
        return [operation, new Histogram({ name, help, labelNames: [...perHost], ...buckets, registers })];
      }),
    );
  }

  count(key: HostCounter, labels: Readonly<Record<string, string>>): void {
    this.#counters.get(key)?.inc(labels);
  }

  observe(operation: HostOperation, labels: Readonly<Record<string, string>>, seconds: number): void {
    this.#durations.get(operation)?.observe(labels, seconds);
  }
}

const hostCounters = Object.keys(counters) as HostCounter[]; // the keys of a constant

/** The labels that most metrics have. */
export const labelsOf = ({ metadata }: { metadata: { name: string; namespace?: string | undefined } }) => ({
  namespace: metadata.namespace ?? '',
  host: metadata.name,
});
