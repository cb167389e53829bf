import type { BareMetalHostStatus, ProvisioningState } from '@metal/api/metal3/bare-metal-host-status.ts';

export type HostConditionType =
  | 'Manageable'
  | 'AvailableForProvisioning'
  | 'Provisioned'
  | 'Ready'
  | 'Progressing'
  | 'Healthy';

export interface HostCondition {
  readonly type: HostConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
}

export interface ConditionFacts {
  readonly state: ProvisioningState;
  readonly operationalStatus: BareMetalHostStatus['operationalStatus'];
  /** Ironic lost the power control of the node. */
  readonly hasPowerFailure: boolean;
  /** Of the node; empty if it is not known. */
  readonly health: string;
  /** A condition Healthy exists. */
  readonly hasHealthy: boolean;
}

type ConditionValue = readonly [status: HostCondition['status'], reason: string];
interface StateConditions {
  readonly manageable: ConditionValue;
  readonly available: ConditionValue;
  readonly provisioned: ConditionValue;
  readonly progressing: ConditionValue;
}

const idle: StateConditions = {
  manageable: ['True', 'Manageable'],
  available: ['False', 'NotAvailable'],
  provisioned: ['False', 'NotProvisioned'],
  progressing: ['False', 'NotProgressing'],
};
const unmanaged: StateConditions = { ...idle, manageable: ['False', 'NotManaged'] };
const available: StateConditions = { ...idle, available: ['True', 'Available'] };
const provisioned: StateConditions = { ...idle, provisioned: ['True', 'Provisioned'] };
const busy = (reason: string): StateConditions => ({ ...idle, progressing: ['True', reason] });

const byState: Readonly<Record<ProvisioningState, StateConditions>> = {
  '': unmanaged,
  unmanaged,
  registering: { ...busy('Registering'), manageable: ['False', 'Registering'] },
  // A state of former versions, between the registration and the inspection.
  'match profile': busy('Preparing'),
  inspecting: busy('Inspecting'),
  preparing: busy('Preparing'),
  ready: available,
  available,
  provisioning: busy('Provisioning'),
  provisioned,
  'externally provisioned': provisioned,
  deprovisioning: busy('Deprovisioning'),
  'powering off before delete': busy('PoweringOffBeforeDelete'),
  deleting: busy('Deleting'),
};

/** States without a node that could lose its power control. */
const withoutNode: readonly ProvisioningState[] = ['', 'unmanaged', 'registering', 'deleting'];

/** Conditions of a host. One that is left out stays as it is. */
export function hostConditions(facts: ConditionFacts): HostCondition[] {
  const { available: isAvailable, provisioned: isProvisioned } = byState[facts.state];
  const healthy = healthyOf(facts);
  return [
    condition('Manageable', manageableOf(facts)),
    condition('AvailableForProvisioning', isAvailable),
    condition('Provisioned', isProvisioned),
    condition('Ready', readyOf(facts)),
    condition('Progressing', progressingOf(facts)),
    ...(healthy === undefined ? [] : [condition('Healthy', healthy)]),
  ];
}

const condition = (type: HostConditionType, [status, reason]: ConditionValue): HostCondition => ({
  type,
  status,
  reason,
});

function manageableOf({ state, operationalStatus, hasPowerFailure }: ConditionFacts): ConditionValue {
  if (hasPowerFailure && operationalStatus !== 'detached' && !withoutNode.includes(state))
    return ['False', 'PowerFailure'];
  if (state === 'registering' && operationalStatus === 'error') return ['False', 'RegistrationFailed'];
  return byState[state].manageable;
}

const unready: Readonly<Partial<Record<ConditionFacts['operationalStatus'], string>>> = {
  error: 'Error',
  servicing: 'Servicing',
  detached: 'Detached',
};

function readyOf({ state, operationalStatus }: ConditionFacts): ConditionValue {
  const reason = unready[operationalStatus];
  if (reason !== undefined) return ['False', reason];
  const { available: isAvailable, provisioned: isProvisioned } = byState[state];
  return isAvailable[0] === 'True' ? isAvailable : isProvisioned;
}

const progressingOf = ({ state, operationalStatus }: ConditionFacts): ConditionValue =>
  operationalStatus === 'detached' ? ['False', 'Detached'] : byState[state].progressing;

function healthyOf({ health, hasHealthy }: ConditionFacts): ConditionValue | undefined {
  switch (health) {
    case '':
      return hasHealthy ? undefined : ['Unknown', 'Unknown'];
    case 'OK':
      return ['True', 'Healthy'];
    case 'Warning':
      return ['False', 'Warning'];
    case 'Critical':
      return ['False', 'CriticalError'];
    default:
      return ['Unknown', 'Unknown'];
  }
}
