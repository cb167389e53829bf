import { Password } from '@metal/redfish/http/password.ts';
import { type IronicPass, nodeName } from '../ironic-pass.ts';
import type { IronicNode } from '../node/ironic-node.ts';

export type FoundNode = { readonly node: IronicNode | undefined } | { readonly problem: string };

/**
 * Finds the node of a host by the ID in its status, by its name, and by its MAC address. A node that has the plain name of the host, as
 * older versions of Metal3 named them, is its node only with the same BMC: the name is not unique.
 */
export async function findRegisteredNode({ access, address, session }: IronicPass): Promise<FoundNode> {
  const { host } = access;
  const { api } = session;
  const known = (await session.find()) ?? (await api.findNode(nodeName(host)));
  if (known !== undefined) return { node: known };
  const { name } = host.metadata;
  const plain = name.includes('~') ? undefined : await api.findNode(name);
  if (plain !== undefined && access.credentials !== undefined) {
    const { username, password } = access.credentials;
    const info = address.infoOf({ username, password: new Password(password), verifiesCertificate: true });
    if (plain.driver_info[address.key] === info[address.key]) return { node: plain };
  }
  return findByMac({ access, session });
}

async function findByMac({ access, session }: Pick<IronicPass, 'access' | 'session'>): Promise<FoundNode> {
  const mac = access.host.spec.bootMACAddress ?? '';
  // An empty address would match the ports of every node.
  if (mac === '') return { node: undefined };
  const [port] = await session.api.portsOf({ address: mac.toLowerCase() });
  const node = port && (await session.api.findNode(port.node_uuid));
  if (node === undefined || node.name === '') return { node };
  return {
    problem: `spec.bootMACAddress: ${mac} belongs to node ${node.name} (${node.uuid}) of Ironic: correct the address, or delete that host`,
  };
}
