import { resolve } from 'node:path';
import { Command } from 'commander';
import { buildImage } from './build-image.ts';
import { ImageError } from './errors.ts';

const command = new Command('discovery-image')
  .description('Builds the system that machines boot to be discovered: vmlinuz and initrd, and both as discovery.efi.')
  .option('--out <directory>', 'where the image is written', '.image')
  .parse();
const { out } = command.opts<{ out: string }>();

try {
  await buildImage({ out: resolve(out), log: (line) => void process.stdout.write(`${line}\n`) });
} catch (error) {
  if (!(error instanceof ImageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
