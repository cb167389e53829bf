import { type Row, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { HostReason } from './reasons.ts';
import { type HostDecision, step, storeChanges, waitForCapacity } from './steps.ts';
import type { HostAction, HostFacts, HostState } from './types.ts';

export const row = rowsOf<HostState, HostFacts, HostAction, HostReason>();

/** A state of a host with a BMC: credentials, capacity, detachment and registration come first, in every pass. */
export const managed = <const To extends readonly HostState[]>(
  to: To,
  decide: (host: HostFacts) => HostDecision<To[number]>,
): Row<HostState, HostFacts, HostAction, HostReason> => row(to, (host) => beforeState(host) ?? decide(host));

function beforeState(host: HostFacts): HostDecision<never> | undefined {
  return storeChanges(host) ?? checkCredentials(host) ?? checkCapacity(host) ?? detachment(host) ?? registration(host);
}

/** A host that is being deleted has none to complain about. */
export function checkCredentials(host: HostFacts): HostDecision<never> | undefined {
  return host.credentials === 'unusable' && !host.isDeleting ? step(host, 'refuseCredentials') : undefined;
}

const crowdedStates: readonly HostState[] = ['inspecting', 'provisioning', 'deprovisioning'];

/** A host that waits for capacity does nothing else, and one that has it may lose it while others come first. */
export function checkCapacity(host: HostFacts): HostDecision<never> | undefined {
  return host.operationalStatus === 'delayed' || crowdedStates.includes(host.state) ? waitForCapacity(host) : undefined;
}

const detachableStates: readonly HostState[] = ['provisioned', 'externally provisioned', 'available', 'ready'];
const detachedPollMs = minutes(10);

function detachment(host: HostFacts): HostDecision<never> | undefined {
  const { detach, state, operationalStatus, errorType } = host;
  if (detach === undefined)
    return operationalStatus === 'detached' || errorType === 'detach error' ? step(host, 'reattach') : undefined;
  // Elsewhere the back end works on the host, which only force interrupts.
  if (!detachableStates.includes(state) && !detach.isForced) return undefined;
  return step(host, 'detach') ?? wait(detachedPollMs, host.isDeleting ? 'DeletionDelayed' : 'Detached');
}

/** The back end may lose its database at any time: the host is registered in every pass. */
function registration(host: HostFacts): HostDecision<never> | undefined {
  return host.credentials === 'absent' ? undefined : step(host, 'register');
}
