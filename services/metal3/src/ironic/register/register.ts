import { nodeCapabilities } from '../../image/node-capabilities.ts';
import type { Registration, RegistrationData } from '../../provisioner/provisioner.ts';
import { done, failed, type StepResult } from '../../provisioner/step-result.ts';
import { objectIn } from '../../image/object-in.ts';
import { conflictOf, isLocked } from '../http/ironic-error.ts';
import { type IronicPass, nodeName } from '../ironic-pass.ts';
import type { IronicNode } from '../node/ironic-node.ts';
import { change, changes, type JsonPatch } from '../node/json-patch.ts';
import { credentialsMark, driverInfoOf, isOutdated, markOf, renewed } from './driver-info-of.ts';
import { findRegisteredNode } from './find-registered-node.ts';
import { createNode, secretsOf } from './new-node.ts';
import { addPorts } from './ports.ts';
import { needsImage, ramdiskInfo } from './ramdisk-info.ts';
import { registrationProblem } from './registration-problem.ts';

/** Ironic works on the node: its next state decides. */
const busyStates: readonly string[] = [
  'cleaning',
  'clean wait',
  'deploying',
  'wait call-back',
  'inspecting',
  'servicing',
  'service wait',
  'deleting',
  'adopting',
];

/** Makes the node what the host describes, and verifies the access to the BMC. A node that Ironic lost is created again. */
export async function register(pass: IronicPass, data: RegistrationData): Promise<Registration> {
  const problem = registrationProblem(pass, data);
  if (problem !== undefined) return { id: undefined, result: failed(problem) };
  const { session } = pass;
  const found = await findRegisteredNode(pass);
  if ('problem' in found) return { id: undefined, result: failed(found.problem) };
  const node = found.node ?? (await createNode(pass, data));
  session.use(node);
  try {
    return { id: node.uuid, result: await align(pass, data, node) };
  } catch (error) {
    if (isLocked(error)) return { id: node.uuid, result: session.delays.short(conflictOf(error)) };
    throw error;
  }
}

async function align(pass: IronicPass, data: RegistrationData, found: IronicNode): Promise<StepResult> {
  const { session } = pass;
  const info = await driverInfoOf(pass);
  const isStale = isOutdated(pass, found, info);
  const isBusy = busyStates.includes(found.provision_state);
  const patch = [
    ...change('/name', found.name, nodeName(pass.access.host)),
    ...(isStale ? accessPatch(pass, found, renewed(found.driver_info, info)) : []),
    ...(session.api.has('disablePowerOff')
      ? change('/disable_power_off', found.disable_power_off ?? false, data.disablePowerOff)
      : []),
  ];
  // Ironic rejects it while it works on the node, and what it works on goes on with the access that it has.
  const node = isBusy ? found : await session.patch(patch, secretsOf(pass));
  await addPorts(pass, node, data.hardware);
  if (isBusy) return done;
  switch (node.provision_state) {
    case 'enroll':
      if (node.last_error === '' || isStale || data.hasNewCredentials || data.restartsAfterFailure)
        return session.beginState('manage');
      return failed(node.last_error);
    case 'verifying':
      return session.delays.short();
    default:
      return configure(pass, data, node);
  }
}

function accessPatch({ access }: IronicPass, node: IronicNode, info: Readonly<Record<string, unknown>>): JsonPatch {
  const mark = access.credentials && markOf(access.credentials);
  return [
    { op: 'add', path: '/driver_info', value: info },
    ...changes('/extra', node.extra, { [credentialsMark]: mark }),
  ];
}

async function configure(pass: IronicPass, data: RegistrationData, node: IronicNode): Promise<StepResult> {
  const { capabilities } = node.properties;
  await pass.session.patch([
    ...changes('/driver_info', node.driver_info, ramdiskInfo(pass) ?? {}),
    ...change('/automated_clean', node.automated_clean, data.cleaning !== 'disabled'),
    ...changes('/properties', node.properties, {
      capabilities: nodeCapabilities(typeof capabilities === 'string' ? capabilities : '', data.bootMode),
      ...(data.architecture === '' ? {} : { cpu_arch: data.architecture }),
    }),
    ...(await networkDataPatch(pass, node)),
  ]);
  return needsImage(pass, data) ? { kind: 'needsImage' } : done;
}

/** The builder of a PreprovisioningImage puts the network data into the image. */
async function networkDataPatch({ access, options }: IronicPass, node: IronicNode): Promise<JsonPatch> {
  if (options.usesPreprovisioningImages) return [];
  const text = await access.config.preprovisioningNetworkData();
  const data = text === undefined ? {} : objectIn('preprovisioningNetworkData', text);
  return change('/network_data', node.network_data, data);
}
