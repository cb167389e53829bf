import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import { readDiskHealth } from './disk-health.ts';
import { type MachineFiles, pciAddressIn } from './machine-files.ts';
import type { RunProgram } from './environment.ts';

type Disk = ProbeReport['storage'][number];

interface Tools {
  run: RunProgram;
  signal: AbortSignal;
}

const sectorBytes = 512;
/** Block devices on top of other block devices, memory or files, and single paths to an NVMe namespace (nvme0c0n1). */
const notADisk = /^(loop|ram|zram|dm-|md|sr|fd|nbd|drbd|rbd|zd|nvme\d+c)/;

/** Every whole disk. A missing attribute is empty in the entry of its disk. */
export async function readDisks(sys: MachineFiles, udev: MachineFiles, tools: Tools): Promise<Disk[]> {
  const names = (await sys.names('block')).filter((name) => !notADisk.test(name));
  return Promise.all(names.map((name) => readDisk(name, sys, udev, tools)));
}

async function readDisk(name: string, sys: MachineFiles, udev: MachineFiles, tools: Tools): Promise<Disk> {
  const at = (attribute: string) => `block/${name}/${attribute}`;
  const pciAddress = pciAddressIn(await sys.link(`block/${name}`));
  return {
    name,
    path: await busPathOf(name, pciAddress, sys, udev),
    rotational: (await sys.text(at('queue/rotational'))) === '1',
    removable: (await sys.text(at('removable'))) === '1',
    readOnly: (await sys.text(at('ro'))) === '1',
    vendor: await sys.text(at('device/vendor')),
    model: await sys.text(at('device/model')),
    serial:
      (await sys.text(at('device/serial'))) ||
      (await sys.text(at('serial'))) ||
      serialInPage(await sys.bytes(at('device/vpd_pg80'))),
    wwid: (await sys.text(at('wwid'))) || (await sys.text(at('device/wwid'))),
    physicalBlockSize: await sys.number(at('queue/physical_block_size')),
    logicalBlockSize: await sys.number(at('queue/logical_block_size')),
    hWSectorSize: await sys.number(at('queue/hw_sector_size')),
    sizeBytes: (await sys.number(at('size'))) * sectorBytes,
    numaNodeID: await numaNodeOf(name, pciAddress, sys),
    ...(await hctlOf(name, sys)),
    health: await readDiskHealth(name, tools.run, tools.signal),
  };
}

/** The name of the SCSI device: host, channel, target and LUN. Other disks have none. */
async function hctlOf(name: string, sys: MachineFiles): Promise<Pick<Disk, 'hctl'>> {
  const hctl = (await sys.link(`block/${name}/device`)).split('/').at(-1) ?? '';
  return /^\d+:\d+:\d+:\d+$/.test(hctl) ? { hctl } : {};
}

const pageHeaderBytes = 4;
/** SATA and SAS disks report the serial number only in SCSI VPD page 80h. */
const serialInPage = (page: Uint8Array): string =>
  Buffer.from(page.subarray(pageHeaderBytes)).toString('latin1').replaceAll('\0', '').trim();

/** udev records the path down to the port; without udev the PCI address is used. */
async function busPathOf(name: string, pciAddress: string, sys: MachineFiles, udev: MachineFiles): Promise<string> {
  const number = await sys.text(`block/${name}/dev`);
  const recorded = /^E:ID_PATH=(.*)$/m.exec(await udev.text(`udev/data/b${number}`))?.[1];
  return recorded ?? (pciAddress === '' ? '' : `pci-${pciAddress}`);
}

async function numaNodeOf(name: string, pciAddress: string, sys: MachineFiles): Promise<number> {
  const own = await sys.text(`block/${name}/device/numa_node`);
  const inherited = own === '' && pciAddress !== '' ? await sys.text(`bus/pci/devices/${pciAddress}/numa_node`) : own;
  return inherited === '' ? -1 : Number(inherited);
}
