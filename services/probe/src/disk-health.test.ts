import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DiskHealth, diskHealthFrom, readDiskHealth } from './disk-health.ts';

/** Excerpts of the output of smartctl 7.3: the parsed parts and some of their context. */
const recordings: [string, object, DiskHealth][] = [
  [
    'an NVMe disk',
    {
      device: { name: '/dev/nvme0n1', type: 'nvme', protocol: 'NVMe' },
      smart_status: { passed: true, nvme: { value: 0 } },
      nvme_smart_health_information_log: { temperature: 38, percentage_used: 3, power_on_hours: 12_011 },
      temperature: { current: 38 },
      power_on_time: { hours: 12_011 },
    },
    { status: 'passed', temperatureCelsius: 38, powerOnHours: 12_011, percentageUsed: 3 },
  ],
  [
    'a SATA disk with its wear in the device statistics',
    {
      smart_status: { passed: true },
      temperature: { current: 27 },
      power_on_time: { hours: 30_101, minutes: 12 },
      ata_device_statistics: {
        pages: [
          {
            number: 1,
            name: 'General Statistics',
            table: [{ offset: 8, name: 'Lifetime Power-On Resets', value: 41 }],
          },
          { number: 7, table: [{ offset: 8, name: 'Percentage Used Endurance Indicator', value: 12 }] },
        ],
      },
    },
    { status: 'passed', temperatureCelsius: 27, powerOnHours: 30_101, percentageUsed: 12 },
  ],
  [
    'a SAS disk that expects to fail',
    {
      device: { name: '/dev/sda', type: 'scsi', protocol: 'SCSI' },
      smart_status: { passed: false, scsi: { asc: 93, ascq: 16, ie_string: 'HARDWARE IMPENDING FAILURE' } },
      temperature: { current: 41, drive_trip: 60 },
      power_on_time: { hours: 55_000, minutes: 1 },
      scsi_percentage_used_endurance_indicator: 101,
    },
    { status: 'failed', temperatureCelsius: 41, powerOnHours: 55_000, percentageUsed: 101 },
  ],
  [
    'a virtual disk',
    {
      smartctl: { messages: [{ string: '/dev/vda: Unable to detect device type', severity: 'error' }], exit_status: 1 },
    },
    { status: 'unknown' },
  ],
  [
    'a disk with nonsense in its log',
    { smart_status: 'yes', temperature: { current: 'warm' }, power_on_time: { hours: 2 ** 40 } },
    { status: 'unknown' },
  ],
];
for (const [disk, output, health] of recordings) {
  test(`the health of ${disk} is parsed`, () => assert.deepEqual(diskHealthFrom(JSON.stringify(output)), health));
}

const signal = new AbortController().signal;

test('the output of smartctl counts even if it exits with an error', async () => {
  const run = () =>
    Promise.reject(Object.assign(new Error('exit code 8'), { code: 8, stdout: '{"smart_status":{"passed":false}}' }));
  assert.deepEqual(await readDiskHealth('sda', run, signal), { status: 'failed' });
});

test('the health of a disk is unknown if smartctl hangs or fails', async () => {
  const run = () => Promise.reject(new Error('The operation was aborted due to timeout'));
  assert.deepEqual(await readDiskHealth('sda', run, signal), { status: 'unknown' });
});
