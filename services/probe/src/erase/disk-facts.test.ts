import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MachineFiles } from '../machine-files.ts';
import { type DiskFacts, readDiskFacts } from './disk-facts.ts';

/** sysfs with these files; directories follow from the paths. */
const sysWith = (texts: Record<string, string>, links: Record<string, string> = {}): MachineFiles => ({
  text: async (path) => texts[path] ?? '',
  number: async (path) => Number(texts[path] ?? 0),
  bytes: async () => new Uint8Array(),
  names: async (directory) => {
    const below = Object.keys(texts).filter((path) => path.startsWith(`${directory}/`));
    return [...new Set(below.map((path) => path.slice(directory.length + 1).split('/')[0] ?? ''))];
  },
  link: async (path) => links[path] ?? '',
});

const disk = (name: string, vendor: string) => ({
  name,
  vendor,
  serial: 'S',
  wwid: '',
  model: 'M',
  sizeBytes: 1_000,
  logicalBlockSize: 512,
  removable: false,
  readOnly: false,
});

const commands: [string, name: string, vendor: string, link: string, DiskFacts['commands'], controller: string][] = [
  ['an NVMe namespace', 'nvme10n2', '', '../devices/pci0000:00/0000:01:00.0/nvme/nvme10/nvme10n2', 'nvme', 'nvme10'],
  [
    'a SATA disk',
    'sda',
    'ATA',
    '../devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda',
    'ata',
    'sda',
  ],
  [
    'a SATA disk behind a SAS controller',
    'sdb',
    'ATA',
    '../devices/pci0000:00/0000:02:00.0/host1/port-1:0/block/sdb',
    'ata',
    'sdb',
  ],
  [
    'a SATA disk behind a USB bridge',
    'sdc',
    'ATA',
    '../devices/pci0000:00/0000:00:14.0/usb1/1-1/1-1:1.0/host2/block/sdc',
    'none',
    'sdc',
  ],
  ['a SAS disk', 'sdd', 'SEAGATE', '../devices/pci0000:00/0000:02:00.0/host1/port-1:1/block/sdd', 'none', 'sdd'],
  ['a virtual disk', 'vda', '0x1af4', '../devices/pci0000:00/0000:00:04.0/virtio1/block/vda', 'none', 'vda'],
];
for (const [title, name, vendor, link, expected, controller] of commands) {
  test(`${title} has ${expected === 'none' ? 'no command set' : `the command set ${expected}`}`, async () => {
    const facts = await readDiskFacts(disk(name, vendor), sysWith({}, { [`block/${name}`]: link }));
    assert.deepEqual([facts.commands, facts.controller], [expected, controller]);
  });
}

test('partitions, device numbers and holders are read in bytes and by name', async () => {
  const sys = sysWith({
    'block/sda/dev': '8:0',
    'block/sda/queue/write_zeroes_max_bytes': '33553920',
    'block/sda/sda1/dev': '8:1',
    'block/sda/sda1/start': '2048',
    'block/sda/sda1/size': '4096',
    'block/sda/sda1/holders/dm-0': '',
  });
  const facts = await readDiskFacts(disk('sda', 'ATA'), sys);
  assert.deepEqual(facts.partitions, [{ name: 'sda1', startBytes: 1_048_576, sizeBytes: 2_097_152 }]);
  assert.deepEqual(
    [facts.deviceNumber, [...facts.deviceNumbers], facts.holders, facts.writesZeroes],
    [
      '8:0',
      [
        ['sda', '8:0'],
        ['sda1', '8:1'],
      ],
      ['dm-0'],
      true,
    ],
  );
});
