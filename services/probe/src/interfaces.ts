import type { NetworkInterfaceInfo } from 'node:os';
import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import type { MachineFiles } from './machine-files.ts';

type Interface = ProbeReport['networkInterfaces'][number];
/** Addresses by interface name, as `os.networkInterfaces()` returns them. */
export type Addresses = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

const loopbackFlag = 0x8;

/** Interfaces of the machine itself: no loopback, no tunnels, no container bridge. */
export async function readInterfaces(sys: MachineFiles, addresses: Addresses): Promise<Interface[]> {
  const names = (await sys.names('class/net')).filter((name) => !/^(tun|docker0)/.test(name));
  const interfaces = await Promise.all(names.map((name) => readInterface(name, sys, addresses[name] ?? [])));
  return interfaces.filter((found) => found !== undefined);
}

async function readInterface(
  name: string,
  sys: MachineFiles,
  known: readonly NetworkInterfaceInfo[],
): Promise<Interface | undefined> {
  const flags = await sys.text(`class/net/${name}/flags`);
  // bonding_masters is a file among the interfaces.
  if (flags === '' || (Number(flags) & loopbackFlag) !== 0) return undefined;
  return {
    name,
    macAddress: (await sys.text(`class/net/${name}/address`)).toLowerCase(),
    carrierStatus: (await hasCarrier(name, sys)) ? 'up' : 'down',
    ipAddresses: known.filter(({ internal }) => !internal).map(({ address }) => address),
  };
}

/** Drivers that do not report an operational state leave it `unknown` and still have a carrier. */
export async function hasCarrier(name: string, sys: MachineFiles): Promise<boolean> {
  const state = await sys.text(`class/net/${name}/operstate`);
  return (state === 'up' || state === 'unknown') && (await sys.text(`class/net/${name}/carrier`)) === '1';
}

/** Names of physical ports with a link, on which an LLDP neighbour is expected. */
export async function portsWithCarrier(sys: MachineFiles): Promise<string[]> {
  const names = await sys.names('class/net');
  const linked = await Promise.all(
    names.map(async (name) => (await sys.link(`class/net/${name}/device`)) !== '' && (await hasCarrier(name, sys))),
  );
  return names.filter((_, position) => linked[position]);
}
