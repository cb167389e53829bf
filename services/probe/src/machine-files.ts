import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Files of sysfs and procfs. A missing or unreadable file is empty, because hardware differs. */
export interface MachineFiles {
  /** Trimmed text; '' for a missing file. */
  text(path: string): Promise<string>;
  number(path: string): Promise<number>;
  bytes(path: string): Promise<Uint8Array>;
  names(directory: string): Promise<string[]>;
  /** Target of a symbolic link; '' for a missing link. */
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

/** The last PCI address in a sysfs path; '' for a device that is not on PCI. */
export function pciAddressIn(path: string): string {
  return path.match(/[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]/g)?.at(-1) ?? '';
}
