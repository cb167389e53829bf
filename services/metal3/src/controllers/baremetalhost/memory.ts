import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { type BareMetalHostStatus, provisioningStates } from '@metal/api/metal3/bare-metal-host-status.ts';
import { enteredStatus, newStatus } from './status-changes.ts';
import type { HostFacts, HostState, HostStep, NodeFacts, StepOutcome } from './types.ts';

/** Results of the steps in one state, for the actions to add to. */
export type HostOutcomes = Partial<Record<HostStep, StepOutcome>>;

/** A state that no version of Metal3 has is an error of whoever wrote it. */
export function stateOf({ status }: Pick<BareMetalHost, 'status'>): HostState {
  const stored = status?.provisioning.state ?? '';
  const state = provisioningStates.find((known) => known === stored);
  if (state === undefined) throw new TypeError(`unknown state "${stored}" in status.provisioning.state`);
  return state;
}

/** Findings of one pass about a host. The next pass starts with a new one: results of a provisioner are true for a moment. */
export interface HostPass {
  /** As it will be stored. A pass that ends with an error stores nothing. */
  status: BareMetalHostStatus;
  /** By state: the registration, for example, asks for another image in another state. */
  readonly outcomes: Partial<Record<HostState, HostOutcomes>>;
  capacity: HostFacts['capacity'];
  isReleased: boolean;
  node: NodeFacts;
}

export const newPass = ({ status }: Pick<BareMetalHost, 'status'>): HostPass => ({
  status: status ?? newStatus,
  outcomes: {},
  capacity: undefined,
  isReleased: false,
  node: { hasPowerFailure: false, health: '' },
});

export function outcomesIn(pass: HostPass, state: HostState): HostOutcomes {
  const outcomes = pass.outcomes[state] ?? {};
  pass.outcomes[state] = outcomes;
  return outcomes;
}

/** The pass goes on in this state. */
export function enterState(pass: HostPass, state: HostState, moment: Parameters<typeof enteredStatus>[2]): void {
  pass.status = enteredStatus(pass.status, state, moment);
}
