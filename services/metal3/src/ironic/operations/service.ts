import { hasChanges } from '../../objects/firmware-facts.ts';
import { firmwareSteps } from '../../firmware/firmware-changes.ts';
import type { ServicingData, Started } from '../../provisioner/provisioner.ts';
import { done, type StepResult } from '../../provisioner/step-result.ts';
import type { IronicPass } from '../ironic-pass.ts';
import { unexpectedState } from '../node/node-session.ts';
import { failure } from './last-error.ts';

const only = (result: StepResult, isStarted = false): Started => ({ result, isStarted });

/** Changes settings and firmware of a deployed node. */
export async function service(pass: IronicPass, data: ServicingData): Promise<Started> {
  const { session } = pass;
  const node = await session.node();
  switch (node.provision_state) {
    case 'service failed': {
      if (data.hasFirmwareSpec && !data.restartsAfterFailure) return only(await failure(session, node));
      if (node.maintenance === true) return only(await session.endMaintenance());
      // Also when everything was applied before the failure.
      const isOver = !data.hasFirmwareSpec || !hasChanges(data.firmware);
      return isOver ? only(await session.beginState('abort')) : begin(pass, data);
    }
    case 'active':
      return data.isUnprepared ? begin(pass, data) : only(done);
    case 'servicing':
      return only(session.delays.long());
    case 'service wait':
      return only(data.hasFirmwareSpec ? session.delays.long() : await session.beginState('abort'));
    default:
      throw unexpectedState(node, 'service it');
  }
}

async function begin({ session }: IronicPass, { firmware }: ServicingData): Promise<Started> {
  const steps = firmwareSteps(firmware.settings, firmware.updates);
  if (steps.length === 0) return only(done, true);
  const { result, isAccepted } = await session.changeState('service', { service_steps: steps });
  return only(result, isAccepted);
}
