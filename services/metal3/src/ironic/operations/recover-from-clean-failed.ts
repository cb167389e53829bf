import type { StepResult } from '../../provisioner/step-result.ts';
import type { NodeSession } from '../node/node-session.ts';

/** A failed cleaning sets a maintenance, which ends first; then the node is manageable again. */
export async function recoverFromCleanFailed(session: NodeSession): Promise<StepResult> {
  const { maintenance } = await session.node();
  return maintenance === true ? session.endMaintenance() : session.beginState('manage');
}
