import type { ProvisioningState } from '@metal/api/metal3/bare-metal-host-status.ts';
import type { Retry } from '../../provisioner/provisioner.ts';
import { done, type StepResult } from '../../provisioner/step-result.ts';
import type { IronicPass } from '../ironic-pass.ts';
import { unexpectedState } from '../node/node-session.ts';
import { failure } from './last-error.ts';

/** Makes Ironic consider a manageable node deployed, without touching the machine. */
export async function adopt(
  { session }: IronicPass,
  { state, restartsAfterFailure }: { readonly state: ProvisioningState } & Retry,
): Promise<StepResult> {
  const node = await session.node();
  switch (node.provision_state) {
    case 'enroll':
    case 'verifying':
      throw unexpectedState(node, 'adopt it');
    case 'manageable':
      // A deprovisioning goes on with the cleaning.
      return state === 'deprovisioning' ? done : session.beginState('adopt');
    case 'adopting':
      return session.delays.short();
    case 'adopt failed':
      return restartsAfterFailure ? session.beginState('adopt') : failure(session, node);
    case 'active':
      // Set by a person: Ironic would refuse every change. A fault ends by itself.
      return node.maintenance === true && node.fault === '' && state !== 'deleting' ? session.endMaintenance() : done;
    default:
      return done;
  }
}
