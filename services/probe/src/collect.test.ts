import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { probeReport } from '@metal/api/wire/probe-report.ts';
import { type CollectOptions, collect } from './collect.ts';
import { type RunProgram, discardLog } from './environment.ts';

const clock = { now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678), sleep: () => Promise.resolve() };
const notInstalled: RunProgram = (program) =>
  Promise.reject(Object.assign(new Error(`spawn ${program} ENOENT`), { code: 'ENOENT' }));
const signal = new AbortController().signal;

/** A directory with these files; a value that starts with -> is a symbolic link. */
async function rootWith(files: Record<string, string>): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'metalprobe-test-'));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await (content.startsWith('->')
      ? symlink(content.slice(2), join(path, name))
      : writeFile(join(path, name), content));
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

const optionsFor = (root: string, more: Partial<CollectOptions> = {}): CollectOptions => ({
  clock,
  signal,
  log: discardLog,
  run: notInstalled,
  sysRoot: join(root, 'sys'),
  procRoot: join(root, 'proc'),
  runRoot: join(root, 'run'),
  usrRoot: join(root, 'usr'),
  addresses: () => ({}),
  lldp: { intervalMs: 5_000, budgetMs: 0 },
  ...more,
});

const port = (name: string, up: boolean): Record<string, string> => ({
  [`sys/class/net/${name}/flags`]: '0x1003\n',
  [`sys/class/net/${name}/address`]: '52:54:00:AA:BB:01\n',
  [`sys/class/net/${name}/operstate`]: up ? 'up\n' : 'down\n',
  [`sys/class/net/${name}/carrier`]: up ? '1\n' : '0\n',
});

test('interfaces are reported without loopback, tunnels and container bridges', async () => {
  await using root = await rootWith({
    ...port('eth0', true),
    ...port('eth1', false),
    ...port('tun0', true),
    ...port('docker0', true),
    'sys/class/net/lo/flags': '0x9\n',
    'sys/class/net/bonding_masters': '\n',
  });
  const info = { netmask: '', mac: '', internal: false, cidr: null };
  const addresses = () => ({
    eth0: [
      { ...info, family: 'IPv4' as const, address: '10.0.0.5' },
      { ...info, family: 'IPv6' as const, address: 'fe80::1', scopeid: 2 },
    ],
  });
  const { networkInterfaces } = await collect(optionsFor(root.path, { addresses }));
  assert.deepEqual(networkInterfaces, [
    { name: 'eth0', macAddress: '52:54:00:aa:bb:01', carrierStatus: 'up', ipAddresses: ['10.0.0.5', 'fe80::1'] },
    { name: 'eth1', macAddress: '52:54:00:aa:bb:01', carrierStatus: 'down', ipAddresses: [] },
  ]);
});

test('a disk without attributes does not affect the others', async () => {
  await using root = await rootWith({
    'sys/devices/pci0000:00/0000:00:1f.2/ata1/block/sda/size': '2048\n',
    'sys/devices/pci0000:00/0000:00:1f.2/ata1/block/sda/dev': '8:0\n',
    'sys/devices/pci0000:00/0000:00:1f.2/ata1/block/sda/queue/rotational': '1\n',
    'sys/devices/pci0000:00/0000:00:1f.2/ata1/block/sda/queue/logical_block_size': '512\n',
    'sys/devices/pci0000:00/0000:00:1f.2/ata1/block/sda/device/model': 'SPINNER   \n',
    'sys/block/sda': '->../devices/pci0000:00/0000:00:1f.2/ata1/block/sda',
    'sys/bus/pci/devices/0000:00:1f.2/numa_node': '1\n',
    'sys/devices/pci0000:00/0000:00:1f.2/ata1/block/sda/device/vpd_pg80': '\0\x80\0\x0b   WD-1234  ',
    'sys/block/sdb/size': 'rubbish',
    'sys/block/loop0/size': '8',
    'sys/block/dm-0/size': '8',
    'sys/block/nvme0c0n1/size': '8',
    'run/udev/data/b8:0': 'E:ID_BUS=ata\nE:ID_PATH=pci-0000:00:1f.2-ata-1\n',
  });
  const { storage } = await collect(optionsFor(root.path));
  assert.deepEqual(
    storage.map(({ name, sizeBytes }) => [name, sizeBytes]),
    [
      ['sda', 1_048_576],
      ['sdb', 0],
    ],
  );
  const [disk] = storage;
  assert.deepEqual(
    [disk?.path, disk?.model, disk?.serial, disk?.rotational, disk?.numaNodeID],
    ['pci-0000:00:1f.2-ata-1', 'SPINNER', 'WD-1234', true, 1],
  );
});

test('processors are counted by socket', async () => {
  const thread = (processor: number, socket: number, core: number) =>
    `processor\t: ${processor}\nvendor_id\t: GenuineIntel\nmodel name\t: Xeon\nphysical id\t: ${socket}\ncore id\t: ${core}\nflags\t\t: fpu vme\n`;
  await using root = await rootWith({
    'proc/cpuinfo': [thread(0, 0, 0), thread(1, 0, 0), thread(2, 1, 0), thread(3, 1, 1)].join('\n'),
  });
  const { cpu } = await collect(optionsFor(root.path));
  assert.deepEqual(
    cpu.map(({ id, totalCores, totalHardwareThreads }) => [id, totalCores, totalHardwareThreads]),
    [
      [0, 1, 2],
      [1, 2, 2],
    ],
  );
  assert.deepEqual(cpu[0]?.capabilities, ['fpu', 'vme']);
});

test('a card whose driver does not support ethtool is reported', async () => {
  await using root = await rootWith({
    ...port('eth0', true),
    ...port('eth1', true),
    'sys/class/net/eth0/device': '->../../../devices/pci0000:00/0000:01:00.0',
    'sys/class/net/eth1/device': '->../../../devices/pci0000:00/0000:01:00.1',
    'sys/class/net/eth0/speed': '25000\n',
    'sys/class/net/eth1/speed': '-1\n',
  });
  const outputs: Record<string, string> = {
    eth0: 'Settings for eth0:\n\tSupported ports: [ FIBRE ]\n\tSupported link modes:   10000baseKR/Full\n\t                        25000baseCR/Full\n\tSpeed: 25000Mb/s\n',
    '-i eth0': 'driver: mlx5_core\nfirmware-version: 16.35\nbus-info: 0000:01:00.0\n',
  };
  const run: RunProgram = async (_program, parameters) =>
    outputs[parameters.join(' ')] ?? Promise.reject(new Error('Operation not supported'));
  const { nics } = await collect(optionsFor(root.path, { run }));
  assert.deepEqual(nics[0], {
    name: 'eth0',
    mac: '52:54:00:aa:bb:01',
    pciAddress: 'unknown',
    speed: '25000Mb/s',
    linkModes: ['10000baseKR/Full', '25000baseCR/Full'],
    supportedPorts: ['FIBRE'],
    firmwareVersion: '16.35',
  });
  assert.deepEqual([nics[1]?.name, nics[1]?.speed, nics[1]?.firmwareVersion], ['eth1', '', '']);
});

test('PCI devices are named after the list of the distribution', async () => {
  await using root = await rootWith({
    'sys/bus/pci/devices/0000:00:03.0/vendor': '0x1af4\n',
    'sys/bus/pci/devices/0000:00:03.0/device': '0x1041\n',
    'sys/bus/pci/devices/0000:00:03.0/numa_node': '-1\n',
    'usr/share/misc/pci.ids':
      '# list\n1af4  Red Hat, Inc.\n\t1041  Virtio 1.0 network device\n\t\t1af4 1041  subsystem\n8086  Intel Corporation\n\t1041  something else\n',
  });
  const { pciDevices } = await collect(optionsFor(root.path));
  assert.deepEqual(pciDevices, [
    {
      address: '0000:00:03.0',
      vendorID: '1af4',
      vendor: 'Red Hat, Inc.',
      productID: '1041',
      product: 'Virtio 1.0 network device',
      numaNodeID: -1,
    },
  ]);
});

test('the readable part of the SMBIOS information is reported', async () => {
  await using root = await rootWith({
    'sys/class/dmi/id/sys_vendor': 'QEMU\n',
    'sys/class/dmi/id/bios_version': '1.16\n',
  });
  const { systemInfo } = await collect(optionsFor(root.path));
  assert.equal(systemInfo.systemInformation.manufacturer, 'QEMU');
  assert.equal(systemInfo.systemInformation.serialNumber, '');
  assert.equal(systemInfo.biosInformation.version, '1.16');
});

test('a machine without any readable file yields an empty report with a timestamp', async () => {
  await using root = await rootWith({});
  const report = await collect(optionsFor(root.path));
  assert.equal(report.timestamp, '2026-01-02T03:04:05Z');
  assert.deepEqual(
    [report.cpu, report.storage, report.networkInterfaces, report.lldp, report.memory, report.pciDevices],
    [[], [], [], [], [], []],
  );
});

test('the timestamp of a report is the time of its inventory, also if the LLDP daemon fails', async () => {
  await using root = await rootWith(port('eth0', true));
  const daemonFails: RunProgram = () => Promise.reject(new Error('lldpctl: unable to connect to lldpd'));
  const stamps = [];
  for (const now of [0, 30_000, 60_000]) {
    const at = { now: () => Date.UTC(2026, 0, 2) + now, sleep: () => Promise.resolve() };
    stamps.push((await collect(optionsFor(root.path, { clock: at, run: daemonFails }))).timestamp);
  }
  assert.deepEqual(stamps, ['2026-01-02T00:00:00Z', '2026-01-02T00:00:30Z', '2026-01-02T00:01:00Z']);
});

test('a disk is reported with its health, which is unknown if smartctl fails', async () => {
  await using root = await rootWith({ 'sys/block/sda/size': '2048', 'sys/block/vda/size': '2048' });
  const run: RunProgram = async (program, parameters) =>
    program === 'smartctl' && parameters.at(-1) === '/dev/sda'
      ? '{"smart_status":{"passed":true},"temperature":{"current":31}}'
      : Promise.reject(new Error('Unable to detect device type'));
  const { storage } = await collect(optionsFor(root.path, { run }));
  assert.deepEqual(
    storage.map(({ health }) => health),
    [{ status: 'passed', temperatureCelsius: 31 }, { status: 'unknown' }],
  );
});

test('a SCSI disk is reported with its address', async () => {
  await using root = await rootWith({
    'sys/block/sda/size': '2048',
    'sys/block/sda/device': '->../../../1:0:2:0',
    'sys/block/vda/size': '2048',
    'sys/block/vda/device': '->../../../virtio1',
  });
  const { storage } = await collect(optionsFor(root.path));
  assert.deepEqual(
    storage.map(({ hctl }) => hctl),
    ['1:0:2:0', undefined],
  );
});

const secureBoot = 'sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c';
const firmwares: [string, Record<string, string>, object][] = [
  ['a BIOS', {}, { mode: 'BIOS', secureBoot: 'unsupported' }],
  [
    'UEFI without the variable',
    { 'sys/firmware/efi/fw_platform_size': '64' },
    { mode: 'UEFI', secureBoot: 'unsupported' },
  ],
  ['UEFI with Secure Boot off', { [secureBoot]: '\x06\0\0\0\0' }, { mode: 'UEFI', secureBoot: 'disabled' }],
  ['UEFI with Secure Boot on', { [secureBoot]: '\x06\0\0\0\x01' }, { mode: 'UEFI', secureBoot: 'enabled' }],
];
for (const [firmware, files, boot] of firmwares) {
  test(`the boot mode of a machine with ${firmware} is reported`, async () => {
    await using root = await rootWith(files);
    assert.deepEqual((await collect(optionsFor(root.path))).boot, boot);
  });
}

test('the hardware inventory of this machine is a valid report', async () => {
  const report = await collect({
    clock,
    signal,
    log: discardLog,
    run: notInstalled,
    lldp: { intervalMs: 5_000, budgetMs: 0 },
  });
  assert.deepEqual(probeReport.parse(JSON.parse(JSON.stringify(report))), report);
  assert.ok(report.cpu.length > 0, 'there is at least one processor');
});
