import { act, go, rest, wait } from '@metal/kube/controller/decide.ts';
import { checkCapacity } from './before.ts';
import { failuresBeforeGivingUp, enter, type HostDecision, step } from './steps.ts';
import type { HostFacts, HostState, HostStep } from './types.ts';

/**
 * Deletion: the image is removed, the machine is powered off, the node is removed. Undefined while the state goes on as it is.
 */
export function decideNextForDeletion(host: HostFacts): HostDecision | undefined {
  if (host.state === 'deleting') return undefined;
  return checkCapacity(host) ?? deleteDetached(host) ?? leaveState(host);
}

/** Its node is gone, or nobody shall touch the machine. */
const deleteDetached = ({ detach }: HostFacts): HostDecision<'deleting'> | undefined =>
  detach?.deleteAction === 'delete' ? go('deleting', 'DeletionRequested') : undefined;

/** A detached host whose deletion is delayed, or that is being attached again, keeps its state. */
const keepsState = ({ detach, operationalStatus }: HostFacts): boolean =>
  detach?.deleteAction === 'delay' || (operationalStatus === 'detached' && detach === undefined);

function leaveState(host: HostFacts): HostDecision | undefined {
  if (keepsState(host)) return undefined;
  const { state, errorType, errorCount } = host;
  if (unregisteredStates.includes(state)) return go('deleting', 'DeletionRequested');
  if (state === 'provisioning' || state === 'provisioned') return enter(host, 'deprovisioning', 'DeletionRequested');
  if (state !== 'deprovisioning' && state !== 'powering off before delete')
    return go('powering off before delete', 'DeletionRequested');
  const isGivenUp = errorType === 'registration error' && errorCount > failuresBeforeGivingUp;
  return isGivenUp ? go('deleting', 'DeprovisioningGivenUp') : undefined;
}

const unregisteredStates: readonly HostState[] = ['', 'unmanaged', 'registering'];

/** A step of a deletion that is skipped when it cannot succeed. */
export function stepOrGiveUp<const To extends HostState>(
  host: HostFacts,
  names: readonly HostStep[],
  next: To,
): HostDecision<To | 'deleting'> | undefined {
  for (const name of names) {
    const outcome = host.outcomes[name];
    if (host.isDeleting && outcome?.kind === 'failed' && host.errorCount > failuresBeforeGivingUp)
      return go(next, next === 'deleting' ? 'PowerOffGivenUp' : 'DeprovisioningGivenUp');
    if (host.isDeleting && outcome?.kind === 'unregistered' && host.credentials === 'absent')
      return go('deleting', 'DeletionRequested');
    const pending = step(host, name);
    if (pending !== undefined) return pending;
  }
  return undefined;
}

export function deleteNode(host: HostFacts): HostDecision<never> {
  // Without a deletion the state has no meaning: somebody edited the status.
  if (!host.isDeleting) return wait(0, 'Deleting');
  return step(host, 'deleteNode') ?? (host.isReleased ? rest : act('releaseSecrets', 'NodeDeleted'));
}
