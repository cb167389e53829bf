import { nodeCapabilities } from '../../image/node-capabilities.ts';
import type { RegistrationData } from '../../provisioner/provisioner.ts';
import { type IronicPass, nodeName } from '../ironic-pass.ts';
import { type IronicNode, ironicNode } from '../node/ironic-node.ts';
import { credentialsMark, driverInfoOf, markOf } from './driver-info-of.ts';

export const secretsOf = ({ access }: IronicPass): string[] =>
  access.credentials === undefined ? [] : [access.credentials.password];

/** @throws IronicError, with status 409 if another request created the node */
export async function createNode(pass: IronicPass, data: RegistrationData): Promise<IronicNode> {
  const body = await newNode(pass, data);
  return pass.session.api.read(ironicNode, { method: 'POST', path: 'nodes', body, secrets: secretsOf(pass) });
}

async function newNode(pass: IronicPass, data: RegistrationData): Promise<Readonly<Record<string, unknown>>> {
  const { access, address, session } = pass;
  const { driver, interfaces } = address.driver;
  const deploy = deployInterface(data);
  return {
    driver,
    name: nodeName(access.host),
    driver_info: await driverInfoOf(pass),
    ...Object.fromEntries(Object.entries(interfaces).map(([name, value]) => [`${name}_interface`, value])),
    inspect_interface: inspectInterface(pass, data.inspection),
    ...(deploy === undefined ? {} : { deploy_interface: deploy }),
    // Older versions reject a node with the member, also with false.
    ...(session.api.has('disablePowerOff') ? { disable_power_off: data.disablePowerOff } : {}),
    properties: {
      capabilities: nodeCapabilities('', data.bootMode),
      ...(data.architecture === '' ? {} : { cpu_arch: data.architecture }),
    },
    ...(access.credentials === undefined ? {} : { extra: { [credentialsMark]: markOf(access.credentials) } }),
  };
}

export const inspectInterface = ({ address }: IronicPass, mode: RegistrationData['inspection']): string =>
  (mode === 'fast' ? address.driver.fastInspect : undefined) ?? 'agent';

function deployInterface({ image, hasCustomDeploy }: RegistrationData): string | undefined {
  if (image?.format === 'live-iso') return 'ramdisk';
  return hasCustomDeploy ? 'custom-agent' : undefined;
}
