import { resolve } from 'node:path';
import { Command } from 'commander';
import { buildImage } from './build-image.ts';
import { ImageError } from './errors.ts';

const command = new Command('discovery-image')
  .description('Builds the discovery image: vmlinuz and initrd, and both as a unified kernel image (discovery.efi).')
  .option('--out <directory>', 'output directory', '.image')
  .parse();
const { out } = command.opts<{ out: string }>();

try {
  await buildImage({ out: resolve(out), log: (line) => void process.stdout.write(`${line}\n`) });
} catch (error) {
  if (!(error instanceof ImageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
