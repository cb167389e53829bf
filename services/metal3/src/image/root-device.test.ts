import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rootDevice, type RootDeviceHints } from './root-device.ts';

const rows: [hints: RootDeviceHints, found: object][] = [
  [{}, {}],
  [{ deviceName: '/dev/sda' }, { name: 's== /dev/sda' }],
  [{ deviceName: '/dev/disk/by-path/pci-0' }, { by_path: 's== /dev/disk/by-path/pci-0' }],
  [
    { hctl: '0:0:0:0', serialNumber: 's', wwn: 'w', wwnWithExtension: 'e', wwnVendorExtension: 'v' },
    { hctl: 's== 0:0:0:0', serial: 's== s', wwn: 's== w', wwn_with_extension: 's== e', wwn_vendor_extension: 's== v' },
  ],
  [
    { model: 'm', vendor: 'v' },
    { model: '<in> m', vendor: '<in> v' },
  ],
  [{ minSizeGigabytes: 40 }, { size: '>= 40' }],
  [{ minSizeGigabytes: 0, model: '' }, {}],
  [{ rotational: false }, { rotational: 'false' }],
  [{ rotational: true }, { rotational: 'true' }],
];
for (const [hints, found] of rows)
  test(`the root device of ${JSON.stringify(hints)}`, () => assert.deepEqual(rootDevice(hints), found));
