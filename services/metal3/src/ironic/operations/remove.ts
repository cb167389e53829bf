import { done, type StepResult } from '../../provisioner/step-result.ts';
import { type IronicPass, nodeName } from '../ironic-pass.ts';
import type { NodeSession } from '../node/node-session.ts';

const reason = 'The BareMetalHost of this node is deleted or detached.';

/** Removes the node, and leaves the machine alone; `isForced`: also what waits for a ramdisk. Finished when Ironic does not know it. */
export async function remove(
  { access, session }: Pick<IronicPass, 'access' | 'session'>,
  isForced: boolean,
): Promise<StepResult> {
  // A node that was created in a pass whose status was not stored has the name of the host only.
  const node = (await session.find()) ?? session.use(await session.api.findNode(nodeName(access.host)));
  if (node === undefined) return done;
  switch (node.provision_state) {
    case 'verifying':
      return session.delays.short();
    case 'deploying':
    case 'cleaning':
    case 'inspecting':
    case 'servicing':
    case 'deleting':
      return session.delays.long();
    case 'wait call-back':
      if (!isForced) return session.delays.long();
      return session.beginState(session.api.has('abortDeployment') ? 'abort' : 'deleted');
    case 'inspect wait':
    case 'clean wait':
    case 'service wait':
      return isForced ? session.beginState('abort') : session.delays.long();
    case 'enroll':
      break;
    case 'available':
    case 'manageable':
      if (node.instance_uuid !== '') await session.patch([{ op: 'remove', path: '/instance_uuid' }]);
      break;
    default:
      // Ironic deletes a node in such a state during a maintenance only.
      if (node.maintenance !== true) await session.beginMaintenance(reason);
  }
  return deleteNode(session);
}

async function deleteNode(session: NodeSession): Promise<StepResult> {
  await session.delete();
  return session.delays.short();
}
