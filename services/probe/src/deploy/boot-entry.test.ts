import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addBootEntry } from './boot-entry.ts';
import { variablesOf } from '../../test/disk-fixture.ts';

const partition = { number: 2, startSector: 2_048n, sectors: 4_096n, guid: Buffer.alloc(16, 7) };

test('the entry of an earlier deployment is replaced, and is the first again', async () => {
  const efi = variablesOf({ BootOrder: Buffer.from([1, 0]), Boot0001: Buffer.alloc(10) });
  assert.equal(await addBootEntry(partition, efi, 'x64'), undefined);
  const first = efi.content.get('Boot0000');
  efi.content.set('BootOrder', Buffer.from([1, 0, 0, 0]));
  assert.equal(await addBootEntry({ ...partition, number: 3 }, efi, 'x64'), undefined);
  assert.deepEqual([...efi.content.keys()].toSorted(), ['Boot0000', 'Boot0001', 'BootOrder']);
  assert.deepEqual(efi.content.get('BootOrder'), Buffer.from([0, 0, 1, 0]));
  assert.notDeepEqual(efi.content.get('Boot0000'), first);
});

test('an entry has the partition and the default loader of the architecture', async () => {
  const efi = variablesOf({ BootOrder: Buffer.of() });
  assert.equal(await addBootEntry(partition, efi, 'arm64'), undefined);
  const option = efi.content.get('Boot0000') ?? assert.fail();
  assert.equal(option.readUInt32LE(0), 1, 'active');
  const path = option.subarray(6 + Buffer.byteLength('Disk image\0', 'utf16le'));
  assert.equal(path.length, option.readUInt16LE(4));
  assert.deepEqual(
    [path.readUInt32LE(4), path.readBigUInt64LE(8), path.readBigUInt64LE(16), path.subarray(24, 40)],
    [2, 2_048n, 4_096n, partition.guid],
  );
  assert.ok(path.toString('utf16le').includes(String.raw`\EFI\BOOT\BOOTAA64.EFI`));
  assert.deepEqual(path.subarray(-4), Buffer.from([0x7f, 0xff, 4, 0]));
});

const readOnly = { ...variablesOf({ BootOrder: Buffer.of() }), write: () => Promise.reject(new Error('EROFS')) };
const reasons: [string, Parameters<typeof addBootEntry>, RegExp][] = [
  ['without an EFI system partition', [undefined, variablesOf({}), 'x64'], /no EFI system partition/],
  ['that did not start by UEFI', [partition, variablesOf({}), 'x64'], /did not start by UEFI/],
  ['of another architecture', [partition, variablesOf({}), 's390x'], /no default loader/],
  ['whose firmware refuses', [partition, readOnly, 'x64'], /the firmware did not take it: EROFS/],
];
for (const [what, parameters, message] of reasons)
  test(`a machine ${what} gets no entry, with the reason`, async () =>
    assert.match((await addBootEntry(...parameters)) ?? '', message));
