import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Raid } from '@metal/api/metal3/raid.ts';
import { logicalDisks } from './logical-disks.ts';

const rows: [title: string, raid: Raid, hasHints: boolean, disks: object[]][] = [
  ['no volumes', { hardwareRAIDVolumes: [] }, false, []],
  [
    'a hardware volume with everything',
    {
      hardwareRAIDVolumes: [
        {
          level: '5',
          name: 'n',
          rotational: false,
          sizeGibibytes: 100,
          controller: 'c',
          physicalDisks: ['a', 'b', 'c'],
          numberOfPhysicalDisks: 3,
        },
        { level: '0' },
      ],
    },
    false,
    [
      {
        size_gb: 100,
        raid_level: '5',
        volume_name: 'n',
        disk_type: 'ssd',
        controller: 'c',
        physical_disks: ['a', 'b', 'c'],
        number_of_physical_disks: 3,
        is_root_volume: true,
      },
      { size_gb: 'MAX', raid_level: '0' },
    ],
  ],
  [
    'software volumes, the second with the image',
    {
      softwareRAIDVolumes: [
        { level: '1', rootVolume: false, physicalDisks: [{ deviceName: '/dev/sda' }, { hctl: '0:0:1:0' }] },
        { level: '1', rootVolume: true },
      ],
    },
    false,
    [
      {
        size_gb: 'MAX',
        raid_level: '1',
        controller: 'software',
        physical_disks: [{ name: 's== /dev/sda' }, { hctl: 's== 0:0:1:0' }],
      },
      { size_gb: 'MAX', raid_level: '1', controller: 'software', is_root_volume: true },
    ],
  ],
  [
    'root device hints instead of a root volume',
    { hardwareRAIDVolumes: [{ level: '1', rotational: true }] },
    true,
    [{ size_gb: 'MAX', raid_level: '1', disk_type: 'hdd' }],
  ],
];
for (const [title, raid, hasHints, disks] of rows)
  test(`logical disks: ${title}`, () => assert.deepEqual(logicalDisks(raid, hasHints), { kind: 'disks', disks }));

test('the first software volume has level 1', () => {
  const raid: Raid = { softwareRAIDVolumes: [{ level: '0', rootVolume: false }] };
  assert.equal(logicalDisks(raid, false).kind, 'problem');
});
