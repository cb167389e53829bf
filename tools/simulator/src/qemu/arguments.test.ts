import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Override } from '../machine.ts';
import { profiles } from '../profiles.ts';
import { qemuArguments, qemuCommand, type QemuStart } from './arguments.ts';
import { bootSequence, networkBootOf } from './boot-plan.ts';
import { hardwareOf, makeQemuParts, type QemuOptions } from './parts.ts';

const partsOf = (options: QemuOptions = {}) =>
  makeQemuParts({ seed: 'test', index: 3, part: 0, profile: profiles.dell, uuid: undefined }, options);
const startOf = (more: Partial<QemuStart> = {}): QemuStart => ({
  programs: { qemu: 'qemu', ovmfCode: '/code.fd', ovmfVariables: '/vars.fd' },
  accelerator: 'tcg',
  directory: '/dir',
  sequence: ['disk0'],
  networkBoot: 'pxe',
  bootFile: undefined,
  medium: undefined,
  ...more,
});
const lineOf = (options: QemuOptions, more: Partial<QemuStart>) =>
  qemuArguments(partsOf(options), startOf(more)).join(' ');

test('the same position in a fleet gives the same machine, another position another one', () => {
  assert.deepEqual(partsOf(), partsOf());
  const other = makeQemuParts({ seed: 'test', index: 4, part: 0, profile: profiles.dell, uuid: undefined }, {});
  for (const field of ['uuid', 'serialNumber'] as const) assert.notEqual(partsOf()[field], other[field]);
  assert.notEqual(partsOf().nics[0]?.macAddress, other.nics[0]?.macAddress);
});

test('the hardware that Redfish reports is on the command line', () => {
  const options: QemuOptions = {
    memoryMiB: 768,
    cores: 2,
    nics: [{}, {}],
    disks: [{ bytes: 1_024 }, { kind: 'nvme' }],
  };
  const hardware = hardwareOf(partsOf(options));
  const line = lineOf(options, {});
  const reported = [hardware.uuid, hardware.serialNumber, hardware.sku, 'product=PowerEdge R670', '-m 768M', 'cores=2'];
  const parts = hardware.nics.map(({ macAddress }) => `mac=${macAddress}`);
  const disks = hardware.disks.map(({ serialNumber }) => `serial=${serialNumber}`);
  for (const text of [...reported, ...parts, ...disks]) assert.ok(line.includes(text), text);
  assert.equal(hardware.memoryGiB, 0.75);
  assert.deepEqual(
    hardware.nics.map(({ name, pciAddress }) => [name, pciAddress]),
    [
      ['enp0s2', '0000:00:02.0'],
      ['enp0s3', '0000:00:03.0'],
    ],
  );
  assert.equal(new Set(parts).size, 2);
});

test('commas in names are doubled', () => {
  const line = qemuArguments({ ...partsOf(), manufacturer: 'One, Two' }, startOf()).join(' ');
  assert.ok(line.includes('manufacturer=One,, Two,product='), line);
});

const order = { override: undefined, bootOrder: ['Boot0001'] };
const to = (target: string): Override => ({ target, isOnce: true, httpUri: undefined });
const sequences: readonly (readonly [Parameters<typeof bootSequence>[0], readonly string[]])[] = [
  [order, ['disk0', 'disk1']],
  [{ ...order, override: to('Pxe') }, ['nic0', 'disk0', 'disk1']],
  [{ ...order, override: to('UefiHttp') }, ['nic0', 'disk0', 'disk1']],
  [{ ...order, override: to('Cd') }, ['cd0', 'disk0', 'disk1']],
  [{ ...order, override: to('BiosSetup') }, ['disk0', 'disk1']],
  [{ bootOrder: ['Boot0003', 'Boot0002', 'Boot0001'], override: to('Hdd') }, ['disk0', 'disk1', 'nic0']],
];

test('the override precedes the boot order, without duplicates', () => {
  for (const [machine, expected] of sequences)
    assert.deepEqual(bootSequence(machine, partsOf({ disks: [{}, {}] })), expected);
  const manyCards = partsOf({ nics: [{}, {}] });
  assert.deepEqual(bootSequence({ ...order, override: to('Pxe') }, manyCards), ['nic0', 'nic1', 'disk0']);
  const line = lineOf({ disks: [{}, {}] }, { sequence: ['nic0', 'disk0'] });
  assert.match(line, /id=nic0,\S*bootindex=0/);
  assert.match(line, /id=disk0,\S*bootindex=1/);
  assert.doesNotMatch(line, /id=disk1,\S*bootindex/);
});

test('HTTP boot uses the drivers of OVMF, PXE those of the card', () => {
  assert.equal(networkBootOf({ ...order, override: to('UefiHttp') }), 'http');
  assert.equal(networkBootOf({ ...order, override: to('Pxe') }), 'pxe');
  assert.match(lineOf({ firmware: 'OVMF' }, { networkBoot: 'http' }), /IPv4PXESupport,string=no.*romfile= /);
  assert.doesNotMatch(lineOf({ firmware: 'OVMF' }, {}), /PXESupport|romfile/);
  assert.doesNotMatch(lineOf({}, { networkBoot: 'http' }), /PXESupport|romfile|pflash/, 'SeaBIOS has no drivers');
});

test('an isolated guest reaches only the given addresses', () => {
  assert.doesNotMatch(lineOf({}, {}), /restrict/);
  assert.match(lineOf({ reaches: [] }, {}), /restrict=on -device/);
  const line = lineOf({ reaches: ['http://127.0.0.1:81/a', 'http://127.0.0.1:81/b', 'https://elsewhere.test'] }, {});
  assert.equal(line.match(/guestfwd=tcp:10\.0\.2\.100:81-cmd:\S+ \S+forward\.ts' 127\.0\.0\.1 81/g)?.length, 1);
  assert.doesNotMatch(line, /elsewhere/);
});

test('a card with a tap is connected to it, and has no ROM when the options disable it', () => {
  const tap = { namespace: 'rack', name: 'port0' };
  const parts = partsOf({ nics: [{ tap, rom: false }, {}] });
  const [command, args] = qemuCommand(parts, startOf({ bootFile: 'http://boot.test/ipxe' }));
  assert.deepEqual([command, ...args.slice(0, 4)], ['ip', 'netns', 'exec', 'rack', 'qemu']);
  assert.match(args.join(' '), /-netdev tap,id=net0,ifname=port0,script=no,downscript=no -device \S+,romfile= /);
  assert.match(args.join(' '), /-netdev user,id=net1,bootfile=http:\/\/boot\.test\/ipxe /);
  assert.equal(qemuCommand(partsOf(), startOf())[0], 'qemu');
});
