import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryModulesFrom } from './memory-modules.ts';

interface Fields {
  size?: number;
  extendedMiB?: number;
  type?: number;
  length?: number;
}

function memoryDevice(
  { size = 0x4000, extendedMiB = 0, type = 17, length = 40 }: Fields,
  ...strings: string[]
): Buffer {
  const area = Buffer.alloc(Math.max(length, 40));
  area.writeUInt8(type, 0);
  area.writeUInt8(length, 1);
  area.writeUInt16LE(size, 0x0c);
  area.writeUInt8(1, 0x10);
  area.writeUInt8(2, 0x11);
  area.writeUInt8(34, 0x12);
  area.writeUInt16LE(4_800, 0x15);
  area.writeUInt8(3, 0x17);
  area.writeUInt32LE(extendedMiB, 0x1c);
  return Buffer.concat([area.subarray(0, length), Buffer.from(`${strings.join('\0')}\0\0`, 'latin1')]);
}

test('a module is read with its slot, manufacturer and size', () => {
  const [module] = memoryModulesFrom(memoryDevice({}, 'DIMM_A1', 'Bank 0', 'Micron'));
  assert.equal(module?.size, 16 * 2 ** 30);
  assert.deepEqual(
    [module?.deviceLocator, module?.bankLocator, module?.vendor, module?.memoryType, module?.speed],
    ['DIMM_A1', 'Bank 0', 'Micron', 'DDR5', '4800'],
  );
});

const sizes: [string, Fields, number[]][] = [
  ['an empty slot', { size: 0 }, []],
  ['a slot of unknown size', { size: 0xffff }, []],
  ['a size in KiB', { size: 0x8000 | 512 }, [512 * 1_024]],
  ['a size too big for the small field', { size: 0x7fff, extendedMiB: 65_536 }, [64 * 2 ** 30]],
  ['a structure of an old BIOS', { length: 0x15 }, [16 * 2 ** 30]],
  ['a structure of another type', { type: 4 }, []],
];
for (const [title, fields, expected] of sizes) {
  test(`${title} is parsed`, () =>
    assert.deepEqual(
      memoryModulesFrom(memoryDevice(fields, 'A')).map(({ size }) => size),
      expected,
    ));
}

test('a damaged table yields the modules before the damage', () => {
  const table = Buffer.concat([memoryDevice({}, 'A1'), Buffer.from([17, 2, 0, 0]), memoryDevice({}, 'A2')]);
  assert.deepEqual(
    memoryModulesFrom(table).map(({ deviceLocator }) => deviceLocator),
    ['A1'],
  );
  assert.deepEqual(memoryModulesFrom(table.subarray(0, 10)), []);
  assert.deepEqual(memoryModulesFrom(new Uint8Array()), []);
});
