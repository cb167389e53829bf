import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import type { MachineFiles } from './machine-files.ts';

type PciDevice = ProbeReport['pciDevices'][number];

/** Paths of the list of PCI vendors and products in distributions. */
const nameLists = ['share/hwdata/pci.ids', 'share/misc/pci.ids'];

/** Every PCI function, with names if the system has the list. */
export async function readPciDevices(sys: MachineFiles, usr: MachineFiles): Promise<PciDevice[]> {
  const addresses = await sys.names('bus/pci/devices');
  const devices = await Promise.all(addresses.map((address) => readPciDevice(address, sys)));
  const lists = await Promise.all(nameLists.map((path) => usr.text(path)));
  const names = pciNames(lists.find((list) => list !== '') ?? '', devices);
  return devices.map((device) => ({ ...device, ...names(device) }));
}

async function readPciDevice(address: string, sys: MachineFiles) {
  const at = (attribute: string) => `bus/pci/devices/${address}/${attribute}`;
  const node = await sys.text(at('numa_node'));
  return {
    address,
    vendorID: (await sys.text(at('vendor'))).replace(/^0x/, ''),
    productID: (await sys.text(at('device'))).replace(/^0x/, ''),
    numaNodeID: node === '' ? -1 : Number(node),
  };
}

type Ids = Pick<PciDevice, 'vendorID' | 'productID'>;

/** In the list, vendors start in the first column and their products after one tab. */
function pciNames(list: string, wanted: readonly Ids[]): (device: Ids) => { vendor: string; product: string } {
  const vendors = new Set(wanted.map(({ vendorID }) => vendorID));
  const names = new Map<string, string>();
  let vendor = '';
  for (const line of list.split('\n')) {
    const [, tabs = '', id = '', name = ''] = /^(\t?)([0-9a-f]{4}) {2}(.*)$/.exec(line) ?? [];
    if (id === '') continue;
    if (tabs === '') vendor = id;
    if (vendors.has(vendor)) names.set(tabs === '' ? id : `${vendor}:${id}`, name);
  }
  return ({ vendorID, productID }) => ({
    vendor: names.get(vendorID ?? '') ?? '',
    product: names.get(`${vendorID}:${productID}`) ?? '',
  });
}
