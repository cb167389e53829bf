import type { Retry } from '../../provisioner/provisioner.ts';
import { type CleaningMode, done, type StepResult } from '../../provisioner/step-result.ts';
import type { IronicPass } from '../ironic-pass.ts';
import { change } from '../node/json-patch.ts';
import { unexpectedState } from '../node/node-session.ts';
import { failure } from './last-error.ts';
import { recoverFromCleanFailed } from './recover-from-clean-failed.ts';

/** Removes the deployment and cleans the machine. A node whose cleaning failed is never finished: its disks may have data. */
export async function deprovision(
  { session }: IronicPass,
  { cleaning, restartsAfterFailure }: { readonly cleaning: CleaningMode } & Retry,
): Promise<StepResult> {
  const node = await session.node();
  switch (node.provision_state) {
    case 'active':
    case 'deploy failed':
    case 'wait call-back':
    case 'service failed':
    case 'service wait':
      await session.patch(change('/automated_clean', node.automated_clean, cleaning !== 'disabled'));
      return session.beginState('deleted');
    case 'deleting':
    case 'cleaning':
    case 'clean wait':
    case 'deploying':
    case 'servicing':
      return session.delays.long();
    case 'error':
      return restartsAfterFailure ? session.beginState('deleted') : failure(session, node);
    case 'clean failed':
      return restartsAfterFailure ? recoverFromCleanFailed(session) : failure(session, node);
    case 'adopt failed':
      return restartsAfterFailure ? session.beginState('manage') : failure(session, node);
    case 'manageable':
      return session.beginState('provide');
    case 'available':
      return done;
    default:
      throw unexpectedState(node, 'deprovision it');
  }
}
