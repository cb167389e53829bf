import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrderedDisk } from '@metal/api/wire/erasure.ts';
import { matchDisks, type PresentDisk } from './match-disks.ts';

const ordered = (more: Partial<OrderedDisk> = {}): OrderedDisk => ({
  serial: 'S1',
  wwid: 'naa.1',
  model: 'M',
  sizeBytes: 1_000,
  ...more,
});

const present = (more: Partial<PresentDisk> = {}): PresentDisk => ({
  name: 'sda',
  vendor: 'ATA',
  removable: false,
  readOnly: false,
  logicalBlockSize: 512,
  ...ordered(),
  ...more,
});

const cases: [title: string, OrderedDisk[], PresentDisk[], string[] | RegExp][] = [
  ['the same WWID and size', [ordered()], [present()], ['sda']],
  ['the same WWID with another serial number', [ordered({ serial: '' })], [present()], ['sda']],
  ['serial number and model if one side has no WWID', [ordered({ wwid: '' })], [present()], ['sda']],
  ['an empty order on a machine without disks', [], [], []],
  [
    'two disks in another order',
    [ordered(), ordered({ wwid: 'naa.2', serial: 'S2' })],
    [present({ name: 'sda', wwid: 'naa.2', serial: 'S2' }), present({ name: 'sdb' })],
    ['sdb', 'sda'],
  ],
  [
    'a removable disk that is not in the order',
    [ordered()],
    [present(), present({ name: 'sdb', wwid: '', serial: '', removable: true })],
    ['sda'],
  ],
  [
    'a read-only disk that is not in the order',
    [ordered()],
    [present(), present({ name: 'sdb', wwid: 'naa.9', readOnly: true })],
    ['sda'],
  ],
  [
    'another WWID with the same serial number',
    [ordered()],
    [present({ wwid: 'naa.2' })],
    /serial S1, WWID naa\.1, model M of the order is not there; sda, .*WWID naa\.2.* not in the order/,
  ],
  [
    'the same serial number of another model',
    [ordered({ wwid: '' })],
    [present({ model: 'N' })],
    /is not there; sda, .*model N, is there and not in the order/,
  ],
  ['a disk that is missing', [ordered()], [], /^disk serial S1, WWID naa\.1, model M of the order is not there$/],
  [
    'a disk that is not in the order',
    [],
    [present()],
    /^sda, disk serial S1, WWID naa\.1, model M, is there and not in the order$/,
  ],
  ['another size', [ordered()], [present({ sizeBytes: 2_000 })], /^sda, .* has 2000 bytes; the order has 1000$/],
  ['no capacity', [ordered({ sizeBytes: 0 })], [present({ sizeBytes: 0 })], /^sda, .* has no capacity$/],
  ['two that match one', [ordered()], [present(), present({ name: 'sdb' })], /of the order is there as sda and sdb$/],
  ['one that matches two', [ordered(), ordered()], [present()], /^sda, .* is in the order 2 times$/],
  [
    'a disk without identity',
    [],
    [present({ serial: '', wwid: '' })],
    /^sda \(model "M"\) has neither serial number nor WWID$/,
  ],
  [
    'a disk without identity in the order',
    [ordered({ serial: '', wwid: '' })],
    [],
    /^the order has a disk without serial number and WWID \(model "M"\)$/,
  ],
  [
    'a disk of the order that is read-only',
    [ordered()],
    [present({ readOnly: true })],
    /^disk .* of the order is sda, which is read-only$/,
  ],
  [
    'a disk of the order that is removable',
    [ordered()],
    [present({ removable: true })],
    /^disk .* of the order is sda, which is removable$/,
  ],
];

for (const [title, order, machine, expected] of cases) {
  test(`${title}: ${Array.isArray(expected) ? 'matches' : 'stops the attempt'}`, () => {
    const { disks, problems } = matchDisks(order, machine);
    if (expected instanceof RegExp) assert.match(problems.join('; '), expected);
    else assert.deepEqual([problems, disks.map((disk) => disk.present.name)], [[], expected]);
  });
}
