import { detailsOfInventory } from '../../inspection/details-of-inventory.ts';
import { ironicInventory } from '../../inspection/ironic-inventory.ts';
import { nodeCapabilities } from '../../image/node-capabilities.ts';
import type { Inspection, InspectionData } from '../../provisioner/provisioner.ts';
import { done, failed, type StepResult } from '../../provisioner/step-result.ts';
import { IronicError } from '../http/ironic-error.ts';
import type { IronicPass } from '../ironic-pass.ts';
import { change, changes } from '../node/json-patch.ts';
import { unexpectedState } from '../node/node-session.ts';
import { inspectInterface } from '../register/new-node.ts';
import { isAbortion, reasonOf } from './last-error.ts';

const only = (result: StepResult, isStarted = false): Inspection => ({ result, isStarted, details: undefined });

/** Inspects a manageable node, once: with an inventory it is finished. */
export async function inspect(pass: IronicPass, data: InspectionData): Promise<Inspection> {
  const { session } = pass;
  const node = await session.node();
  const wait = data.mode === 'fast' ? session.delays.short() : session.delays.long();
  switch (node.provision_state) {
    case 'available':
      return only(await session.beginState('manage'));
    case 'inspect wait': {
      if (!data.isForced) return only(wait);
      const { result, isAccepted } = await session.changeState('abort');
      return only(result, isAccepted);
    }
    case 'inspecting':
      return only(wait);
    case 'inspect failed':
      return afterFailure(pass, data, await reasonOf(session, node));
    case 'manageable': {
      const details = data.isRefresh ? undefined : await detailsOf(pass);
      return details === undefined ? begin(pass, data) : { result: done, isStarted: false, details };
    }
    default:
      throw unexpectedState(node, 'inspect it');
  }
}

const afterFailure = async (pass: IronicPass, data: InspectionData, reason: string): Promise<Inspection> =>
  data.restartsAfterFailure || isAbortion(reason) ? begin(pass, data) : only(failed(reason));

async function begin(pass: IronicPass, data: InspectionData): Promise<Inspection> {
  const { session } = pass;
  const node = await session.node();
  const { capabilities } = node.properties;
  await session.patch([
    ...changes('/properties', node.properties, {
      capabilities: nodeCapabilities(typeof capabilities === 'string' ? capabilities : '', data.bootMode),
      ...(data.architecture === '' ? {} : { cpu_arch: data.architecture }),
    }),
    ...change('/inspect_interface', node.inspect_interface, inspectInterface(pass, data.mode)),
  ]);
  const { result, isAccepted } = await session.changeState('inspect');
  return only(result, isAccepted);
}

/** Undefined if the node was never inspected. */
async function detailsOf({ session }: IronicPass) {
  const { uuid } = await session.node();
  const request = { method: 'GET', path: `nodes/${uuid}/inventory`, expected: [404] } as const;
  const { status, body } = await session.api.send(request);
  if (status === 404) return undefined;
  const inventory = ironicInventory.safeParse(body);
  if (inventory.success) return detailsOfInventory(inventory.data);
  throw new IronicError(`the inventory of node ${uuid} is not as expected: ${inventory.error.message}`);
}
