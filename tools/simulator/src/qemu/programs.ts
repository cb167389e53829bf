import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Paths of QEMU and its firmware. */
export interface QemuPrograms {
  readonly qemu: string;
  readonly ovmfCode: string;
  /** Variables of a firmware before its first start. */
  readonly ovmfVariables: string;
}

export type QemuAvailability =
  | { readonly isAvailable: true; readonly programs: QemuPrograms }
  /** Names the missing programs and the remedy. */
  | { readonly isAvailable: false; readonly reason: string };

/** The required files, their Debian packages, and their possible paths. */
const needed = {
  qemu: { what: 'qemu-system-x86_64', package: 'qemu-system-x86', places: [] },
  ovmfCode: { what: 'OVMF_CODE_4M.fd', package: 'ovmf', places: ['/usr/share/OVMF/OVMF_CODE_4M.fd'] },
  ovmfVariables: { what: 'OVMF_VARS_4M.fd', package: 'ovmf', places: ['/usr/share/OVMF/OVMF_VARS_4M.fd'] },
  networkBootRom: {
    what: 'efi-virtio.rom',
    package: 'ipxe-qemu',
    places: ['/usr/lib/ipxe/qemu/efi-virtio.rom', '/usr/share/qemu/efi-virtio.rom'],
  },
} as const satisfies Record<string, { what: string; package: string; places: readonly string[] }>;

/** Whether machines in QEMU can run here. `path` is the list of folders with programs. */
export async function qemuAvailable(path = process.env.PATH ?? ''): Promise<QemuAvailability> {
  const qemu = await firstOf(
    path.split(delimiter).map((folder) => join(folder, needed.qemu.what)),
    constants.X_OK,
  );
  const [ovmfCode, ovmfVariables, rom] = await Promise.all(
    [needed.ovmfCode, needed.ovmfVariables, needed.networkBootRom].map(({ places }) => firstOf(places, constants.R_OK)),
  );
  if (qemu !== undefined && ovmfCode !== undefined && ovmfVariables !== undefined && rom !== undefined)
    return { isAvailable: true, programs: { qemu, ovmfCode, ovmfVariables } };
  const found = { qemu, ovmfCode, ovmfVariables, networkBootRom: rom };
  const missing = Object.entries(found)
    .filter(([, file]) => file === undefined)
    // Both have the same keys.
    .map(([name]) => needed[name as keyof typeof needed]);
  const list = missing.map((one) => `${one.what} (Debian package ${one.package})`).join(', ');
  return { isAvailable: false, reason: `machines in QEMU need ${list}; run: make e2e-deps` };
}

async function firstOf(files: readonly string[], mode: number): Promise<string | undefined> {
  for (const file of files) {
    const isThere = await access(file, mode).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return undefined;
}
