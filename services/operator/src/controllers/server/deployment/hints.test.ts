import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RootDeviceHints } from '@metal/api/common/disk-image.ts';
import { probeReport, type ProbeReportInput } from '@metal/api/wire/probe-report.ts';
import { targetOf } from './hints.ts';

type Disk = NonNullable<ProbeReportInput['storage']>[number];
const gibibyte = 1_073_741_824;
const storageOf = (...storage: Disk[]) => probeReport.parse({ storage }).storage;

const ssd: Disk = {
  name: 'sda',
  path: 'pci-0000:00:1f.2-ata-1',
  hctl: '1:0:0:0',
  model: 'Micron 5300 PRO',
  vendor: 'ATA',
  serial: 'SSD1',
  wwid: 'naa.500a075128b7c9d1',
  sizeBytes: 480 * gibibyte,
};
const volume: Disk = {
  name: 'sdb',
  path: 'pci-0000:02:00.0-scsi-0:2:0:0',
  hctl: '0:2:0:0',
  model: 'PERC H755',
  vendor: 'DELL',
  serial: 'VOL1',
  wwid: 'naa.6d09466067d3e10029d1f3a40c4c8b2f',
  sizeBytes: 4_000 * gibibyte,
  rotational: true,
};
const nvme: Disk = {
  name: 'nvme0n1',
  model: 'KIOXIA CM7',
  serial: 'NV1',
  wwid: 'eui.00a0b1c2d3e4f501',
  sizeBytes: 4_000 * gibibyte,
};
const stick: Disk = { name: 'sdc', model: 'USB DISK', serial: 'U1', sizeBytes: 8 * gibibyte, removable: true };
const all = storageOf(ssd, volume, nvme, stick);

const found: [RootDeviceHints, string][] = [
  [{ deviceName: '/dev/sdb' }, 'sdb'],
  [{ deviceName: '/dev/disk/by-path/pci-0000:00:1f.2-ata-1' }, 'sda'],
  [{ hctl: '0:2:0:0' }, 'sdb'],
  [{ model: 'kioxia' }, 'nvme0n1'],
  [{ vendor: 'dell' }, 'sdb'],
  [{ serialNumber: 'ssd1' }, 'sda'],
  [{ minSizeGigabytes: 1_000, rotational: false }, 'nvme0n1'],
  [{ wwn: '0x500a075128b7c9d1' }, 'sda'],
  [{ wwn: 'eui.00a0b1c2d3e4f501' }, 'nvme0n1'],
  [{ wwn: '0x6d09466067d3e100' }, 'sdb'],
  [{ wwnWithExtension: '0x6d09466067d3e10029d1f3a40c4c8b2f' }, 'sdb'],
  [{ wwnVendorExtension: '0x29d1f3a40c4c8b2f' }, 'sdb'],
  [{ rotational: true }, 'sdb'],
];
for (const [hints, name] of found) {
  test(`${JSON.stringify(hints)} is ${name}`, () => {
    const target = targetOf(all, hints);
    assert.equal(target.kind === 'found' ? target.disk.name : target.reason, name);
  });
}

const none: [string, Disk[], RootDeviceHints | undefined, string][] = [
  ['hints that contradict each other', [ssd, volume], { vendor: 'dell', rotational: false }, 'RootDeviceNotFound'],
  ['a size in GiB that no disk has', [ssd], { minSizeGigabytes: 481 }, 'RootDeviceNotFound'],
  ['a removable disk', [ssd, stick], { deviceName: '/dev/sdc' }, 'RootDeviceNotFound'],
  ['an SCSI address of a disk that has none', [nvme], { hctl: '' }, 'RootDeviceNotFound'],
  ['two disks', [ssd, volume, nvme], { minSizeGigabytes: 1_000 }, 'RootDeviceAmbiguous'],
  ['two disks without hints', [ssd, nvme], undefined, 'RootDeviceAmbiguous'],
  ['a disk without identity', [{ name: 'vda', sizeBytes: gibibyte }], {}, 'RootDeviceUnidentifiable'],
  ['a disk by two paths', [ssd, { ...ssd, name: 'sdz' }], { deviceName: '/dev/sda' }, 'RootDeviceUnidentifiable'],
];
for (const [what, disks, hints, reason] of none) {
  test(`${what}: ${reason}`, () => {
    const target = targetOf(storageOf(...disks), hints);
    assert.equal(target.kind === 'none' ? target.reason : target.disk.name, reason);
  });
}

test('without hints, the only disk is the target, whatever removable ones there are', () => {
  const target = targetOf(storageOf(ssd, stick));
  assert.equal(target.kind === 'found' && target.disk.name, 'sda');
});
