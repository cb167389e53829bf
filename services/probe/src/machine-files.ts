import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** The kernel's view of the machine as files. What is missing or unreadable reads as empty: hardware differs. */
export interface MachineFiles {
  /** Trimmed text, '' when there is none. */
  text(path: string): Promise<string>;
  number(path: string): Promise<number>;
  bytes(path: string): Promise<Uint8Array>;
  names(directory: string): Promise<string[]>;
  /** Target of a symbolic link, '' when there is none. */
  link(path: string): Promise<string>;
}

export function machineFiles(root: string): MachineFiles {
  const text = (path: string) =>
    readFile(join(root, path), 'utf8').then(
      (content) => content.trim(),
      () => '',
    );
  return {
    text,
    number: async (path) => {
      const value = Number(await text(path));
      return Number.isFinite(value) ? value : 0;
    },
    bytes: (path) => readFile(join(root, path)).catch(() => new Uint8Array()),
    names: (directory) =>
      readdir(join(root, directory)).then(
        (names) => names.toSorted(),
        () => [],
      ),
    link: (path) => readlink(join(root, path)).catch(() => ''),
  };
}

/** The last PCI address on a sysfs path, '' when the device does not hang on PCI. */
export function pciAddressIn(path: string): string {
  return path.match(/[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]/g)?.at(-1) ?? '';
}
