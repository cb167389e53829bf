import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hardwareDetails } from '@metal/api/metal3/hardware-details.ts';
import { detailsOfInventory } from './details-of-inventory.ts';
import { ironicInventory } from './ironic-inventory.ts';

const answer = {
  inventory: {
    hostname: 'node-1',
    bmc_address: '192.0.2.7',
    memory: { physical_mb: 131_072, total: 1 },
    cpu: { architecture: 'x86_64', model_name: 'Xeon', count: 64, flags: ['sse', 'aes'], frequency: '2100.4000' },
    system_vendor: {
      manufacturer: 'Dell Inc.',
      product_name: 'R640',
      serial_number: 'S',
      firmware: { vendor: 'Dell', version: '2.1', build_date: '01/02/2026' },
    },
    interfaces: [
      {
        name: 'eno1',
        mac_address: 'aa:bb:cc:00:00:01',
        ipv4_address: '192.0.2.10',
        ipv6_address: '2001:db8::10',
        vendor: '0x8086',
        product: '0x1572',
        speed_mbps: 25_500,
        pci_address: '0000:3b:00.0',
      },
      { name: 'eno2', mac_address: 'aa:bb:cc:00:00:02', product: '0x1', ipv4_address: null, speed_mbps: null },
    ],
    disks: [
      {
        name: '/dev/sda',
        by_path: '/dev/disk/by-path/p',
        rotational: true,
        size: 2 ** 43,
        hctl: '0:0:0:0',
        serial: 's',
      },
      { name: '/dev/nvme0n1', rotational: false, size: 100, wwn: 'w', vendor: null },
      { name: '/dev/sdb', rotational: false, size: 5 },
    ],
  },
  plugin_data: {
    all_interfaces: { eno1: { pxe_enabled: true } },
    parsed_lldp: {
      eno1: {
        switch_chassis_id: '11:22:33:44:55:66',
        switch_port_id: 'p1',
        switch_port_untagged_vlan_id: 10,
        switch_port_vlans: [{ id: 20, name: 'storage' }, { id: '30' }, { id: 9_999 }],
      },
      eno2: {},
    },
  },
};

const eno1 = {
  name: 'eno1',
  model: '0x8086 0x1572',
  mac: 'aa:bb:cc:00:00:01',
  speedGbps: 25,
  pciAddress: '0000:3b:00.0',
  pxe: true,
  lldp: { switchID: '11:22:33:44:55:66', portID: 'p1', switchSystemName: '' },
  vlans: [{ id: 20, name: 'storage' }, { id: 30 }],
  vlanId: 10,
};

test('an inventory becomes hardware details', () => {
  const details = detailsOfInventory(ironicInventory.parse(answer));
  assert.deepEqual(details, {
    cpu: { arch: 'x86_64', model: 'Xeon', count: 64, flags: ['aes', 'sse'], clockMegahertz: 2_100 },
    firmware: { bios: { date: '01/02/2026', vendor: 'Dell', version: '2.1' } },
    hostname: 'node-1',
    nics: [
      { ...eno1, ip: '192.0.2.10' },
      { ...eno1, ip: '2001:db8::10' },
      { name: 'eno2', model: '0x1', mac: 'aa:bb:cc:00:00:02', speedGbps: 0, pxe: false },
    ],
    ramMebibytes: 131_072,
    storage: [
      {
        name: '/dev/disk/by-path/p',
        alternateNames: ['/dev/sda', '/dev/disk/by-path/p'],
        rotational: true,
        type: 'HDD',
        sizeBytes: 2 ** 43,
        serialNumber: 's',
        hctl: '0:0:0:0',
      },
      {
        name: '/dev/nvme0n1',
        alternateNames: ['/dev/nvme0n1'],
        rotational: false,
        type: 'NVME',
        sizeBytes: 100,
        wwn: 'w',
      },
      { name: '/dev/sdb', alternateNames: ['/dev/sdb'], rotational: false, type: 'SSD', sizeBytes: 5 },
    ],
    systemVendor: { manufacturer: 'Dell Inc.', productName: 'R640', serialNumber: 'S' },
  });
  assert.deepEqual(hardwareDetails().parse(details), details, 'the API server accepts them');
});

test('an empty inventory becomes empty details', () => {
  const { cpu, nics, storage } = detailsOfInventory(ironicInventory.parse({ inventory: {}, plugin_data: null }));
  assert.deepEqual([cpu?.count, nics, storage], [0, [], []]);
});
