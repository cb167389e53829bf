import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import type { MachineFiles } from './machine-files.ts';

type MemoryModule = ProbeReport['memory'][number];

const memoryDevice = 17;
const endOfTable = 127;

/** Every populated memory slot, from the SMBIOS table, which only root can read. */
export async function readMemoryModules(sys: MachineFiles): Promise<MemoryModule[]> {
  return memoryModulesFrom(await sys.bytes('firmware/dmi/tables/DMI'));
}

/** @param table The raw SMBIOS structure table. A damaged table yields the modules before the damage. */
export function memoryModulesFrom(table: Uint8Array): MemoryModule[] {
  return [...structuresIn(Buffer.from(table))]
    .filter(({ type }) => type === memoryDevice)
    .map(moduleOf)
    .filter(({ size }) => size > 0);
}

interface Structure {
  readonly type: number;
  /** The formatted area: fixed offsets of the SMBIOS specification, shorter in older versions. */
  readonly area: Buffer;
  readonly strings: readonly string[];
}

function* structuresIn(table: Buffer): Generator<Structure> {
  let offset = 0;
  while (offset + 4 <= table.length) {
    const type = table.readUInt8(offset);
    const length = table.readUInt8(offset + 1);
    const end = table.indexOf('\0\0', offset + length, 'latin1');
    if (length < 4 || end < 0) return;
    const strings = table.toString('latin1', offset + length, end).split('\0');
    yield { type, area: table.subarray(offset, offset + length), strings };
    if (type === endOfTable) return;
    offset = end + 2;
  }
}

function moduleOf({ area, strings }: Structure): MemoryModule {
  const byte = (offset: number) => (offset < area.length ? area.readUInt8(offset) : 0);
  const word = (offset: number) => (offset + 2 <= area.length ? area.readUInt16LE(offset) : 0);
  const double = (offset: number) => (offset + 4 <= area.length ? area.readUInt32LE(offset) : 0);
  const text = (offset: number) => (strings[byte(offset) - 1] ?? '').trim();
  return {
    size: sizeInBytes(word(0x0c), double(0x1c)),
    deviceSet: String(byte(0x0f)),
    deviceLocator: text(0x10),
    bankLocator: text(0x11),
    memoryType: memoryTypes[byte(0x12)] ?? 'Unknown',
    speed: String(word(0x15)),
    vendor: text(0x17),
    serialNumber: text(0x18),
    assetTag: text(0x19),
    partNumber: text(0x1a),
    configuredMemorySpeed: String(word(0x20)),
    minimumVoltage: String(word(0x22)),
    maximumVoltage: String(word(0x24)),
    configuredVoltage: String(word(0x26)),
  };
}

/** The small field is in MiB, or in KiB if its top bit is set; 0x7fff refers to the large field, 0xffff is unknown. */
function sizeInBytes(small: number, large: number): number {
  if (small === 0xffff) return 0;
  if (small === 0x7fff) return (large & 0x7fffffff) * 1_048_576;
  return (small & 0x7fff) * (small & 0x8000 ? 1_024 : 1_048_576);
}

const memoryTypes: Readonly<Record<number, string>> = {
  1: 'Other',
  3: 'DRAM',
  7: 'RAM',
  15: 'SDRAM',
  18: 'DDR',
  19: 'DDR2',
  20: 'DDR2 FB-DIMM',
  24: 'DDR3',
  26: 'DDR4',
  27: 'LPDDR',
  28: 'LPDDR2',
  29: 'LPDDR3',
  30: 'LPDDR4',
  31: 'Logical non-volatile device',
  32: 'HBM',
  33: 'HBM2',
  34: 'DDR5',
  35: 'LPDDR5',
  36: 'HBM3',
};
