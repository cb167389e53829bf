import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { ProbeError } from '../errors.ts';

/** A disk, opened to be read and written in place. Every failure names the disk and the offset. */
export interface Device extends AsyncDisposable {
  write(data: Uint8Array, offset: number): Promise<void>;
  /** Fills `into` completely. */
  read(into: Uint8Array, offset: number): Promise<void>;
  /** Resolves when all writes are on the medium. */
  flush(): Promise<void>;
}

export interface DeviceToOpen {
  readonly name: string;
  readonly path: string;
  /** Expected result of `numberOf`. */
  readonly deviceNumber: string;
  readonly numberOf: (stats: Stats) => string;
}

/**
 * Opens exclusively: with O_EXCL, a block device that is mounted, swap or part of another device returns EBUSY (open(2)).
 * Bypasses the page cache, so that samples come from the disk and a write error has its offset.
 * @throws ProbeError `DiskFailed`
 */
export async function openDevice({ name, path, deviceNumber, numberOf }: DeviceToOpen): Promise<Device> {
  const file = await openPastTheCache(path).catch((error: unknown) => {
    const busy = error instanceof Error && 'code' in error && error.code === 'EBUSY';
    throw diskFailed(busy ? `${name} is in use (EBUSY)` : `${name}: open: ${reasonOf(error)}`, error);
  });
  try {
    const found = numberOf(await file.stat());
    if (found === deviceNumber && found !== '') return deviceOn(name, file);
    throw diskFailed(
      `${path} is ${found || 'no block device'}; expected ${name}, which is ${deviceNumber || 'unknown'}`,
    );
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** MAJOR:MINOR of a block device, as in sysfs; '' for anything else, for example a regular file. */
export function blockDeviceNumber(stats: Stats): string {
  if (!stats.isBlockDevice()) return '';
  // The kernel's encoding for user space: 12 bits of major and 20 of minor, whose low 8 bits come first.
  const major = (stats.rdev >>> 8) & 0xfff;
  const minor = (stats.rdev & 0xff) | ((stats.rdev >>> 12) & 0xfff00);
  return `${major}:${minor}`;
}

async function openPastTheCache(path: string): Promise<FileHandle> {
  const flags = constants.O_RDWR | constants.O_EXCL;
  try {
    return await open(path, flags | constants.O_DIRECT);
  } catch (error) {
    // Some file systems do not support O_DIRECT; every block device of Linux does.
    if (error instanceof Error && 'code' in error && error.code === 'EINVAL') return open(path, flags);
    throw error;
  }
}

function deviceOn(name: string, file: FileHandle): Device {
  const all = async (verb: 'write' | 'read', size: number, offset: number, some: (done: number) => Promise<number>) => {
    for (let done = 0; done < size; ) {
      const count = await some(done).catch((error: unknown) => {
        throw diskFailed(`${name}: ${verb} at offset ${offset + done}: ${reasonOf(error)}`, error);
      });
      if (count === 0) throw diskFailed(`${name}: ${verb} at offset ${offset + done}: the device ends there`);
      done += count;
    }
  };
  return {
    write: (data, offset) =>
      all('write', data.length, offset, async (done) => {
        return (await file.write(data, done, data.length - done, offset + done)).bytesWritten;
      }),
    read: (into, offset) =>
      all('read', into.length, offset, async (done) => {
        return (await file.read(into, done, into.length - done, offset + done)).bytesRead;
      }),
    flush: () =>
      file.datasync().catch((error: unknown) => {
        throw diskFailed(`${name}: flush: ${reasonOf(error)}`, error);
      }),
    [Symbol.asyncDispose]: () => file.close(),
  };
}

/** Zeros at an address that O_DIRECT accepts: a resizable ArrayBuffer is page-aligned, a Buffer is not. */
export const alignedBuffer = (sizeBytes: number): Uint8Array =>
  new Uint8Array(new ArrayBuffer(sizeBytes, { maxByteLength: sizeBytes }));

export const diskFailed = (message: string, cause?: unknown): ProbeError =>
  new ProbeError({ code: 'DiskFailed', retry: 'blocked', message, cause });

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
