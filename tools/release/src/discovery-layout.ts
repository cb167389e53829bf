import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OciLayout } from '@metal/container/oci-layout.ts';

/** Files of the discovery image, and the media types under which the boot service finds them. */
const layers = {
  vmlinuz: 'application/vnd.ironcore.image.kernel',
  initrd: 'application/vnd.ironcore.image.initramfs',
  'discovery.efi': 'application/vnd.ironcore.image.uki',
};

/** The discovery image as the boot service pulls it from a registry. @returns the directory of the layout. */
export async function discoveryLayout(discovery: string, to: string, tag: string): Promise<string> {
  await mkdir(to, { recursive: true });
  const layout = new OciLayout(to);
  const contents = Object.entries(layers).map(async ([file, mediaType]) => ({
    mediaType,
    content: await readFile(join(discovery, file)),
  }));
  await layout.addArtifact({ tag, layers: await Promise.all(contents) });
  await layout.writeIndex();
  return to;
}
