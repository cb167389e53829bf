import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { DeploymentOrder } from '@metal/api/wire/deployment.ts';
import { openDevice } from '../src/erase/device.ts';
import type { PresentDisk } from '../src/erase/match-disks.ts';
import type { EfiVariables } from '../src/deploy/boot-entry.ts';
import type { DeploymentMachine } from '../src/deploy/machine.ts';

/** Disks of the tests: files. */

export const mebibyte = 1_048_576;
const inode = (stats: Stats): string => String(stats.ino);

export const presentDisk = (name: string, more: Partial<PresentDisk> = {}): PresentDisk => ({
  name,
  serial: `S-${name}`,
  wwid: '',
  model: 'M',
  vendor: 'V',
  sizeBytes: 12 * mebibyte,
  logicalBlockSize: 512,
  removable: false,
  readOnly: false,
  ...more,
});

export interface TestMachine extends AsyncDisposable {
  readonly machine: DeploymentMachine;
  readonly contentOf: (name: string) => Promise<Buffer>;
  readonly opened: string[];
}

/** A machine with these disks, full of data of a former owner, and these UEFI variables. */
export async function machineWith(disks: readonly PresentDisk[], efi = variablesOf({})): Promise<TestMachine> {
  const directory = await mkdtemp(join(tmpdir(), 'metalprobe-test-'));
  for (const { name, sizeBytes } of disks) await writeFile(join(directory, name), Buffer.alloc(sizeBytes, 0x55));
  const opened: string[] = [];
  return {
    opened,
    contentOf: (name) => readFile(join(directory, name)),
    machine: {
      disks: async () => disks,
      usesOf: async () => [],
      open: async ({ name }) => {
        opened.push(name);
        const path = join(directory, name);
        return openDevice({ name, path, deviceNumber: inode(await stat(path)), numberOf: inode });
      },
      efi,
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

export function variablesOf(content: Record<string, Buffer>): EfiVariables & { readonly content: Map<string, Buffer> } {
  const variables = new Map(Object.entries(content));
  return {
    content: variables,
    names: async () => [...variables.keys()],
    read: async (name) => variables.get(name) ?? Buffer.of(),
    write: async (name, data) => void variables.set(name, data),
  };
}

/** A GPT image with an EFI system partition, whose content is a pattern. */
export function gptImage(sizeBytes = 5 * mebibyte, partitionBytes = mebibyte): Buffer {
  const image = Buffer.alloc(sizeBytes, 'content of the image ');
  image.fill(0, 0, mebibyte);
  const lastSector = sizeBytes / 512 - 1;
  image.set([0, 0, 2, 0, 0xee, 0xff, 0xff, 0xff, 1, 0, 0, 0], 446);
  image.writeUInt32LE(lastSector, 458);
  image.writeUInt16LE(0xaa55, 510);
  const entries = Buffer.alloc(128 * 128);
  entries.set(Buffer.from('28732ac11ff8d211ba4b00a0c93ec93b', 'hex'), 0);
  entries.fill(0x11, 16, 32);
  entries.writeBigUInt64LE(2_048n, 32);
  entries.writeBigUInt64LE(BigInt(2_047 + partitionBytes / 512), 40);
  const header = Buffer.alloc(92);
  header.write('EFI PART', 0, 'latin1');
  header.writeUInt32LE(0x10000, 8);
  header.writeUInt32LE(92, 12);
  header.writeBigUInt64LE(1n, 24);
  header.writeBigUInt64LE(BigInt(lastSector), 32);
  header.writeBigUInt64LE(34n, 40);
  header.writeBigUInt64LE(BigInt(lastSector - 33), 48);
  header.fill(0x22, 56, 72);
  header.writeBigUInt64LE(2n, 72);
  header.writeUInt32LE(128, 80);
  header.writeUInt32LE(128, 84);
  header.writeUInt32LE(crc32(entries), 88);
  header.writeUInt32LE(crc32(header), 16);
  header.copy(image, 512);
  entries.copy(image, 1_024);
  entries.copy(image, (lastSector - 32) * 512);
  return image;
}

/** An MBR image with one partition. */
export function mbrImage(sizeBytes = 5 * mebibyte): Buffer {
  const image = Buffer.alloc(sizeBytes, 'content of the image ');
  image.fill(0, 0, 512);
  image.set([0x80, 0, 2, 0, 0x83, 0xff, 0xff, 0xff], 446);
  image.writeUInt32LE(2_048, 454);
  image.writeUInt32LE(sizeBytes / 512 - 2_048, 458);
  image.writeUInt16LE(0xaa55, 510);
  return image;
}

export const orderFor = (image: Buffer, disk: PresentDisk, more: Partial<DeploymentOrder> = {}): DeploymentOrder => ({
  deployment: 'boot-1',
  disk: { serial: disk.serial, wwid: disk.wwid, model: disk.model, sizeBytes: disk.sizeBytes },
  image: { encoding: 'none', sizeBytes: image.length, sha256: createHash('sha256').update(image).digest('hex') },
  configDrive: false,
  ...more,
});
