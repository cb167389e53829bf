import { firmwareSteps } from '../../firmware/firmware-changes.ts';
import type { PreparationData, Started } from '../../provisioner/provisioner.ts';
import { done, failed, type StepResult } from '../../provisioner/step-result.ts';
import { logicalDisks } from '../../raid/logical-disks.ts';
import { raidPlan } from '../../raid/raid-target.ts';
import type { IronicPass } from '../ironic-pass.ts';
import { change } from '../node/json-patch.ts';
import { unexpectedState } from '../node/node-session.ts';
import { failure } from './last-error.ts';
import { recoverFromCleanFailed } from './recover-from-clean-failed.ts';

/** A manual cleaning of Ironic. */
interface Cleaning {
  readonly steps: readonly object[];
  /** Undefined without a change of the RAID. */
  readonly raid: { readonly interface: string; readonly disks: readonly object[] | undefined } | undefined;
}

const only = (result: StepResult, isStarted = false): Started => ({ result, isStarted });

/** Configures RAID, BIOS settings and firmware of a manageable node. Without anything to do, the node stays available. */
export async function prepare(pass: IronicPass, data: PreparationData): Promise<Started> {
  const { session } = pass;
  const node = await session.node();
  const cleaning = cleaningOf(pass, data);
  if ('problem' in cleaning) return only(failed(cleaning.problem));
  const isNeeded = data.isUnprepared && cleaning.steps.length > 0;
  switch (node.provision_state) {
    case 'available':
      return isNeeded ? only(await session.beginState('manage')) : only(done, data.isUnprepared);
    case 'manageable':
      return isNeeded ? begin(pass, cleaning) : only(done, data.isUnprepared);
    case 'clean failed':
      return only(data.restartsAfterFailure ? await recoverFromCleanFailed(session) : await failure(session, node));
    case 'cleaning':
    case 'clean wait':
      return only(session.delays.long());
    default:
      throw unexpectedState(node, 'clean it');
  }
}

async function begin({ session }: IronicPass, { steps, raid }: Cleaning): Promise<Started> {
  if (raid !== undefined) {
    const node = await session.node();
    await session.patch(change('/raid_interface', node.raid_interface, raid.interface));
    if (raid.disks !== undefined) await session.setTargetRaid(raid.disks);
  }
  const { result, isAccepted } = await session.changeState('clean', { clean_steps: steps });
  return only(result, isAccepted);
}

function cleaningOf({ address }: IronicPass, data: PreparationData): Cleaning | { readonly problem: string } {
  const { raid: target, appliedRaid: applied, rootDeviceHints, firmware } = data;
  const raidInterface = address.driver.interfaces.raid;
  const plan = raidPlan({ target, applied, hasHardwareRaid: raidInterface !== 'no-raid' });
  if (plan.kind === 'problem') return plan;
  const firmwareChanges = firmwareSteps(firmware.settings, firmware.updates);
  if (plan.steps.length === 0) return { steps: firmwareChanges, raid: undefined };
  const isCreated = plan.steps.includes('raid.create_configuration');
  const volumes = logicalDisks(target ?? {}, rootDeviceHints !== undefined);
  if (isCreated && volumes.kind === 'problem') return volumes;
  return {
    steps: [...plan.steps.map(cleanStep), ...firmwareChanges],
    raid: {
      interface: plan.isSoftware ? 'agent' : raidInterface,
      disks: isCreated && volumes.kind === 'disks' ? volumes.disks : undefined,
    },
  };
}

function cleanStep(name: string): object {
  const [part, step] = name.split('.');
  return { interface: part, step };
}
