import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EfiPartition } from './partition-table.ts';

/** The UEFI variables of the machine. */
export interface EfiVariables {
  names(): Promise<string[]>;
  /** Without the attributes. */
  read(name: string): Promise<Buffer>;
  write(name: string, data: Buffer): Promise<void>;
}

const globalVariables = '8be4df61-93ca-11d2-aa0d-00e098032b8c';
/** Non-volatile, in boot services, at run time. */
const attributes = 7;

/** efivarfs: a file for each variable, which begins with its attributes. */
export const efiVariables = (root = '/sys/firmware/efi/efivars'): EfiVariables => {
  const pathOf = (name: string): string => join(root, `${name}-${globalVariables}`);
  return {
    names: async () =>
      (await readdir(root).catch(() => [])).flatMap((file) =>
        file.endsWith(`-${globalVariables}`) ? [file.slice(0, -globalVariables.length - 1)] : [],
      ),
    read: async (name) => (await readFile(pathOf(name))).subarray(4),
    write: async (name, data) => {
      const file = Buffer.alloc(4 + data.length);
      file.writeUInt32LE(attributes, 0);
      data.copy(file, 4);
      // One write: the kernel takes it as the whole variable.
      await writeFile(pathOf(name), file);
    },
  };
};

const description = 'Disk image';
/** The default loader of a disk (UEFI specification, 3.5.1.1). */
const loaders: Readonly<Record<string, string>> = {
  x64: String.raw`\EFI\BOOT\BOOTX64.EFI`,
  arm64: String.raw`\EFI\BOOT\BOOTAA64.EFI`,
};

/**
 * Puts the disk first in the boot order. Firmware without UEFI, or with a full variable store, finds the disk by its own order.
 * @returns the reason why there is no entry, for the report; undefined if there is one
 */
export async function addBootEntry(
  partition: EfiPartition | undefined,
  variables: EfiVariables,
  architecture: string = process.arch,
): Promise<string | undefined> {
  const loader = loaders[architecture];
  if (partition === undefined) return 'the image has no EFI system partition';
  if (loader === undefined) return `no default loader is known for ${architecture}`;
  try {
    const names = await variables.names();
    if (names.length === 0) return 'the machine did not start by UEFI';
    const number = await numberOf(names, variables);
    await variables.write(`Boot${hexOf(number)}`, loadOption(partition, loader));
    const order = names.includes('BootOrder') ? numbersIn(await variables.read('BootOrder')) : [];
    await variables.write('BootOrder', orderOf([number, ...order.filter((other) => other !== number)]));
    return undefined;
  } catch (error) {
    return `the firmware did not take it: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** That of an earlier deployment, or a free one. */
async function numberOf(names: readonly string[], variables: EfiVariables): Promise<number> {
  const used = new Set<number>();
  for (const name of names) {
    const [, hex] = /^Boot([0-9A-F]{4})$/i.exec(name) ?? [];
    if (hex === undefined) continue;
    used.add(Number.parseInt(hex, 16));
    const text = Buffer.from(`${description}\0`, 'utf16le');
    const option = await variables.read(name);
    if (option.subarray(6, 6 + text.length).equals(text)) return Number.parseInt(hex, 16);
  }
  for (let number = 0; number < 0xffff; number += 1) if (!used.has(number)) return number;
  throw new Error('every boot entry is in use');
}

const hexOf = (number: number): string => number.toString(16).toUpperCase().padStart(4, '0');

const numbersIn = (order: Buffer): number[] =>
  Array.from({ length: Math.floor(order.length / 2) }, (_, index) => order.readUInt16LE(index * 2));

function orderOf(numbers: readonly number[]): Buffer {
  const order = Buffer.alloc(numbers.length * 2);
  for (const [index, number] of numbers.entries()) order.writeUInt16LE(number, index * 2);
  return order;
}

/** EFI_LOAD_OPTION (UEFI specification, 3.1.3): active, with the path partition, file, end. */
function loadOption({ number, startSector, sectors, guid }: EfiPartition, loader: string): Buffer {
  const hardDrive = Buffer.alloc(42);
  hardDrive.set([4, 1, 42, 0]);
  hardDrive.writeUInt32LE(number, 4);
  hardDrive.writeBigUInt64LE(startSector, 8);
  hardDrive.writeBigUInt64LE(sectors, 16);
  guid.copy(hardDrive, 24);
  hardDrive.set([2, 2], 40);
  const path = Buffer.from(`${loader}\0`, 'utf16le');
  const file = Buffer.alloc(4);
  file.set([4, 4]);
  file.writeUInt16LE(4 + path.length, 2);
  const end = Buffer.from([0x7f, 0xff, 4, 0]);
  const list = Buffer.concat([hardDrive, file, path, end]);
  const head = Buffer.alloc(6);
  head.writeUInt32LE(1, 0);
  head.writeUInt16LE(list.length, 4);
  return Buffer.concat([head, Buffer.from(`${description}\0`, 'utf16le'), list]);
}
