import type { HardwareDetails } from '@metal/api/metal3/hardware-details.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ProbeReport } from '@metal/api/wire/probe-report.ts';

type Nic = NonNullable<HardwareDetails['nics']>[number];
type Disk = NonNullable<HardwareDetails['storage']>[number];

const mebibyte = 2 ** 20;

/** Hardware details of a host from the report of the discovery of its Server. */
export function hardwareOfServer({ status }: Server, report: ProbeReport): HardwareDetails {
  const { systemInformation, biosInformation } = report.systemInfo;
  return {
    cpu: {
      arch: architectureOf(status),
      model: report.cpu[0]?.model ?? '',
      count: report.cpu.reduce((sum, { totalHardwareThreads }) => sum + totalHardwareThreads, 0),
      flags: [...(report.cpu[0]?.capabilities ?? [])].toSorted(),
      clockMegahertz: 0,
    },
    firmware: {
      bios: { date: biosInformation.date, vendor: biosInformation.vendor, version: biosInformation.version },
    },
    hostname: '',
    nics: report.networkInterfaces.filter(({ macAddress }) => macAddress !== '').flatMap((nic) => nicsOf(nic, report)),
    ramMebibytes: Math.floor(report.memory.reduce((sum, { size }) => sum + size, 0) / mebibyte),
    storage: report.storage.filter(({ removable, readOnly }) => !removable && !readOnly).map(diskOf),
    systemVendor: {
      manufacturer: systemInformation.manufacturer,
      productName: systemInformation.productName,
      serialNumber: systemInformation.serialNumber,
    },
  };
}

/** As `uname` has it. Redfish names the instruction set of a processor (DSP0268, Processor.InstructionSet). */
function architectureOf(status: Server['status']): string {
  const names = (status?.processors ?? []).map(
    ({ instructionSet, architecture }) => instructionSet ?? architecture ?? '',
  );
  return names.some((name) => /arm/i.test(name)) ? 'aarch64' : 'x86_64';
}

type Interface = ProbeReport['networkInterfaces'][number];

/** Every interface with a cable has one. Cluster API would take it for an address of the node. */
const linkLocal = /^(169\.254\.|fe[89ab][0-9a-f]:)/i;

/** One entry for an IPv4 address and one for an IPv6 address, as Metal3 has it. */
function nicsOf({ name, macAddress, ipAddresses }: Interface, { nics, lldp, pciDevices }: ProbeReport): Nic[] {
  const card = nics.find((one) => one.mac.toLowerCase() === macAddress.toLowerCase());
  const pci = pciDevices.find(({ address }) => address === card?.pciAddress);
  const neighbor = lldp.find((one) => one.name === name)?.neighbors[0];
  const routable = ipAddresses.filter((ip) => !linkLocal.test(ip));
  const model = pci === undefined ? '' : [pci.vendorID, pci.productID].filter((id) => id !== '').join(' ');
  const common: Nic = {
    name,
    mac: macAddress,
    model,
    speedGbps: Math.floor(Number.parseInt(card?.speed ?? '0', 10) / 1_000) || 0,
    pxe: routable.length > 0,
    ...(card === undefined || card.pciAddress === 'unknown' ? {} : { pciAddress: card.pciAddress }),
    ...(neighbor === undefined
      ? {}
      : {
          lldp: { switchID: neighbor.chassisId, portID: neighbor.portId, switchSystemName: neighbor.systemName },
        }),
  };
  const v4 = routable.find((ip) => !ip.includes(':'));
  const v6 = routable.find((ip) => ip.includes(':'));
  const addresses = [v4, v6].filter((ip) => ip !== undefined);
  return addresses.length === 0 ? [common] : addresses.map((ip) => ({ ...common, ip }));
}

function diskOf(disk: ProbeReport['storage'][number]): Disk {
  const device = disk.name.startsWith('/dev/') ? disk.name : `/dev/${disk.name}`;
  return {
    name: device,
    alternateNames: [device],
    rotational: disk.rotational,
    type: disk.rotational ? 'HDD' : device.startsWith('/dev/nvme') ? 'NVME' : 'SSD',
    sizeBytes: disk.sizeBytes,
    vendor: disk.vendor,
    model: disk.model,
    serialNumber: disk.serial,
    ...(disk.wwid === '' ? {} : { wwn: disk.wwid }),
    ...(disk.hctl === undefined ? {} : { hctl: disk.hctl }),
  };
}
