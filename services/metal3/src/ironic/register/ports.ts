import type { HardwareDetails } from '@metal/api/metal3/hardware-details.ts';
import { IronicError } from '../http/ironic-error.ts';
import type { IronicPass } from '../ironic-pass.ts';
import type { IronicNode } from '../node/ironic-node.ts';

const isPortChangeAllowed = ({ provision_state: state }: IronicNode): boolean =>
  ['enroll', 'manageable', 'available', 'active', 'error'].includes(state) || state.endsWith(' failed');

/**
 * Creates ports for the boot MAC address and for the network interfaces that an inspection found, which Ironic has lost with its
 * database. Ports that exist stay as they are. @throws IronicError for an address of another node
 */
export async function addPorts(
  { access, session }: IronicPass,
  node: IronicNode,
  hardware: HardwareDetails | undefined,
): Promise<void> {
  const wanted = wantedPorts(access.host.spec.bootMACAddress ?? '', hardware);
  if (wanted.size === 0 || !isPortChangeAllowed(node)) return;
  const { api } = session;
  const present = (await api.portsOf({ node_uuid: node.uuid })).map(({ address }) => address.toLowerCase());
  for (const [address, isPxe] of wanted) {
    if (present.includes(address)) continue;
    const [other] = await api.portsOf({ address });
    if (other !== undefined)
      throw new IronicError(
        `the port ${address} of this host belongs to node ${other.node_uuid} in Ironic: delete it there`,
      );
    const body = { node_uuid: node.uuid, address, pxe_enabled: isPxe };
    await api.send({ method: 'POST', path: 'ports', body });
  }
}

/** Whether the machine boots from them, by address. An interface with two IP addresses has two entries. */
function wantedPorts(bootMac: string, hardware: HardwareDetails | undefined): ReadonlyMap<string, boolean> {
  const nics = (hardware?.nics ?? []).map(({ mac = '', pxe = false }) => [mac.toLowerCase(), pxe] as const);
  const ports = new Map([...nics, [bootMac.toLowerCase(), true] as const]);
  ports.delete('');
  return ports;
}
