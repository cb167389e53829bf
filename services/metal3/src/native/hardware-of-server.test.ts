import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hardwareDetails } from '@metal/api/metal3/hardware-details.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { probeReport, type ProbeReportInput } from '@metal/api/wire/probe-report.ts';
import { hardwareOfServer } from './hardware-of-server.ts';

const gibibyte = 2 ** 30;
const server: Server = {
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name: 's' },
  spec: { systemUUID: 'u', reclaimPolicy: 'Recycle', unclaimable: false },
};
const full: ProbeReportInput = {
  systemInfo: {
    biosInformation: { vendor: 'Contoso', version: '2.1', date: '01/02/2026' },
    systemInformation: { manufacturer: 'Contoso', productName: 'R1', serialNumber: 'S1' },
  },
  cpu: [
    { id: 0, totalCores: 8, totalHardwareThreads: 16, model: 'C8', capabilities: ['sse2', 'aes'] },
    { id: 1, totalCores: 8, totalHardwareThreads: 16, model: 'C8' },
  ],
  memory: [{ size: 16 * gibibyte }, { size: 16 * gibibyte }],
  networkInterfaces: [
    { name: 'eno1', macAddress: '02:00:00:00:00:01', ipAddresses: ['fe80::1', '2001:db8::1', '192.0.2.1'] },
    { name: 'eno2', macAddress: '02:00:00:00:00:02', ipAddresses: ['fe80::2', '169.254.3.4'] },
    { name: 'tunnel', macAddress: '' },
  ],
  nics: [
    { name: 'eno1', mac: '02:00:00:00:00:01', pciAddress: '0000:01:00.0', speed: '25000Mb/s' },
    { name: 'eno2', mac: '02:00:00:00:00:02', pciAddress: 'unknown', speed: 'Unknown!' },
  ],
  pciDevices: [{ address: '0000:01:00.0', vendorID: '0x15b3', productID: '0x1017' }],
  lldp: [{ name: 'eno1', neighbors: [{ chassisId: '02:ff', portId: 'Eth1', systemName: 'leaf-1' }] }],
  storage: [
    {
      name: 'sda',
      rotational: true,
      vendor: 'ATA',
      model: 'HD',
      serial: 'D1',
      sizeBytes: 5,
      wwid: 'w1',
      hctl: '0:0:0:0',
    },
    { name: '/dev/nvme0n1', model: 'NV', serial: 'D2', sizeBytes: 6 },
    { name: 'sr0', removable: true },
    { name: 'sdz', readOnly: true },
  ],
};
const hardware = (report: ProbeReportInput, status?: Server['status']) =>
  hardwareOfServer(status === undefined ? server : { ...server, status }, probeReport.parse(report));

test('a full report has every detail of a host', () => {
  const details = hardware(full);
  assert.deepEqual(hardwareDetails().parse(details), details);
  const { cpu, firmware, ramMebibytes, systemVendor } = details;
  assert.deepEqual(cpu, { arch: 'x86_64', model: 'C8', count: 32, flags: ['aes', 'sse2'], clockMegahertz: 0 });
  assert.deepEqual(firmware?.bios, { vendor: 'Contoso', version: '2.1', date: '01/02/2026' });
  assert.deepEqual(systemVendor, { manufacturer: 'Contoso', productName: 'R1', serialNumber: 'S1' });
  assert.equal(ramMebibytes, 32_768);
});

test('an interface has an entry for each of its IPv4 and IPv6 addresses, but not for those of its link', () => {
  const { nics = [] } = hardware(full);
  assert.deepEqual(
    nics.map(({ name, ip, pxe }) => [name, ip, pxe]),
    [
      ['eno1', '192.0.2.1', true],
      ['eno1', '2001:db8::1', true],
      ['eno2', undefined, false],
    ],
  );
  const lldp = { switchID: '02:ff', portID: 'Eth1', switchSystemName: 'leaf-1' };
  const { model, speedGbps, pciAddress } = nics[0] ?? {};
  assert.deepEqual([model, speedGbps, pciAddress, nics[0]?.lldp], ['0x15b3 0x1017', 25, '0000:01:00.0', lldp]);
  assert.deepEqual([nics[2]?.speedGbps, nics[2]?.pciAddress, nics[2]?.lldp], [0, undefined, undefined]);
});

test('disks that can be written are listed by their device names', () => {
  const { storage = [] } = hardware(full);
  assert.deepEqual(
    storage.map(({ name, type, serialNumber, sizeBytes, wwn, hctl }) => [
      name,
      type,
      serialNumber,
      sizeBytes,
      wwn,
      hctl,
    ]),
    [
      ['/dev/sda', 'HDD', 'D1', 5, 'w1', '0:0:0:0'],
      ['/dev/nvme0n1', 'NVME', 'D2', 6, undefined, undefined],
    ],
  );
});

test('the architecture is that of the processors, and an empty report is no error', () => {
  const arm = { processors: [{ id: 'CPU0', instructionSet: 'ARM-A64' }] };
  assert.equal(hardware({}, arm).cpu?.arch, 'aarch64');
  const { cpu, nics, storage, ramMebibytes } = hardware({});
  assert.deepEqual([cpu?.count, nics, storage, ramMebibytes], [0, [], [], 0]);
});
