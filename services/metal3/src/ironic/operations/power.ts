import type { PowerOffData } from '../../provisioner/provisioner.ts';
import { done, type StepResult } from '../../provisioner/step-result.ts';
import type { IronicPass } from '../ironic-pass.ts';
import type { IronicNode, PowerTarget } from '../node/ironic-node.ts';
import type { NodeSession } from '../node/node-session.ts';
import { failure, isAbortion } from './last-error.ts';

/** Ironic powers a machine off hard if its system does not shut down by itself in this time. */
const softTimeoutSeconds = 180;

export async function readPower({ session }: IronicPass): Promise<boolean | undefined> {
  const power = (await session.find())?.power_state;
  return power === 'power on' ? true : power === 'power off' ? false : undefined;
}

export async function powerOn(
  { session }: IronicPass,
  { isForced }: { readonly isForced: boolean },
): Promise<StepResult> {
  const node = await session.node();
  if (node.power_state === 'power on' && node.target_power_state === '') return done;
  if (node.target_power_state === 'power on') return session.delays.short();
  if (node.last_error !== '' && node.target_power_state === '' && !isForced) return failure(session, node);
  return changePower(session, node, ['power on']);
}

/** A host that must not be powered off is restarted instead. */
export async function powerOff({ session }: IronicPass, data: PowerOffData): Promise<StepResult> {
  const node = await session.node();
  const unblocked = await unblock(session, node, data);
  if (unblocked !== undefined) return unblocked;
  const { power_state: power, target_power_state: target } = node;
  if (power === 'power off' && target === '') return done;
  if (target !== '') return session.delays.short();
  if (node.last_error !== '' && !isAbortion(node.last_error) && !data.isForced) return failure(session, node);
  const isRestart = node.disable_power_off === true;
  const hard: PowerTarget = isRestart ? 'rebooting' : 'power off';
  const isSoft = data.mode === 'soft' && !data.isForced;
  return changePower(session, node, isSoft ? [isRestart ? 'soft rebooting' : 'soft power off', hard] : [hard]);
}

/** Ends what keeps Ironic from changing the power; undefined if nothing does. */
async function unblock(
  session: NodeSession,
  node: IronicNode,
  { cleaning }: PowerOffData,
): Promise<StepResult | undefined> {
  switch (node.provision_state) {
    case 'inspect wait':
      return session.beginState('abort');
    case 'inspect failed':
      return node.target_provision_state === '' ? undefined : session.beginState('manage');
    case 'clean wait': {
      // A manual cleaning ends in the state manageable.
      const isManual = node.target_provision_state === 'manageable';
      return isManual || cleaning === 'disabled' ? session.beginState('abort') : session.delays.long();
    }
    case 'inspecting':
    case 'cleaning':
      return session.delays.long();
    default:
      return undefined;
  }
}

/** The first target that Ironic accepts: not every BMC can power off softly. */
async function changePower(
  session: NodeSession,
  { target_provision_state: target, provision_state: state }: IronicNode,
  targets: readonly PowerTarget[],
): Promise<StepResult> {
  if (target !== '' && !state.endsWith(' failed')) return session.delays.short();
  for (const each of targets) {
    const isAccepted = await session.changePower(each, each.startsWith('soft') ? softTimeoutSeconds : undefined);
    if (isAccepted) break;
  }
  return session.delays.short();
}
