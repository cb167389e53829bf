import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tar } from '@metal/container/tar.ts';
import { filesBelow } from './checksums.ts';

/** An OCI image layout as one file, as skopeo and podman read it (`oci-archive:`). */
export async function layoutArchive(layoutDirectory: string): Promise<Buffer> {
  const paths = await filesBelow(layoutDirectory);
  const entries = paths.map(async (path) => ({
    path,
    type: 'file' as const,
    executable: false,
    content: await readFile(join(layoutDirectory, path)),
  }));
  return tar(await Promise.all(entries));
}
