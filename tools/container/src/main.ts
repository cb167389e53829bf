import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ImageError } from '@metal/discovery-image/errors.ts';
import { Command } from 'commander';
import { buildLayout } from './build-container.ts';
import { readLock, requireCurrentLock, updateLock } from './image-lock.ts';

const command = new Command('container')
  .description('Builds the container image of the operator as an OCI image layout, without a daemon.')
  .option('--out <directory>', 'output directory', '.container')
  .option('--update', 'write the packages that apt offers now to image-lock.json, and build with them', false)
  .option('--locked', 'build with the packages of image-lock.json even if apt offers others', false)
  .parse();
const { out, update, locked } = command.opts<{ out: string; update: boolean; locked: boolean }>();
const log = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  if (update) for (const line of await updateLock((await readLock()).node)) log(line);
  else if (!locked) await requireCurrentLock();
  const { layoutDirectory, images } = await buildLayout({ out: resolve(out), log });
  for (const { tag, digest, layers } of Object.values(images)) {
    const sizes = await Promise.all(
      layers.map(async (layer) => (await stat(join(layoutDirectory, 'blobs', layer.replace(':', '/')))).size),
    );
    log(
      `oci:${layoutDirectory}:${tag}  ${digest}  ${(sizes.reduce((sum, size) => sum + size, 0) / 1e6).toFixed(1)} MB`,
    );
  }
} catch (error) {
  if (!(error instanceof ImageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
