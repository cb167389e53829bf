import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cacheDirectory } from '@metal/process/cache-directory.ts';
import { cpio } from './cpio.ts';
import { type Inputs, readInputs } from './inputs.ts';
import { fetchPackages, unpackPackages } from './packages.ts';
import { commandLine } from './recipe.ts';
import { rootFileSystem } from './root-file-system.ts';
import { tool } from './tool.ts';
import { buildUnifiedKernelImage } from './unified-kernel-image.ts';

export const imageFiles = ['vmlinuz', 'initrd', 'discovery.efi'] as const;
const manifestFile = 'manifest.json';

export interface ImageOptions {
  /** Output directory. */
  readonly out: string;
  readonly log: (line: string) => void;
}

/** Builds the image, or takes the one with the same inputs from the cache. @throws ImageError with the remedy. */
export async function buildImage({ out, log }: ImageOptions): Promise<void> {
  const cache = cacheDirectory();
  const inputs = await readInputs();
  if ((await digestIn(out)) === inputs.digest) return log(`${out} is up to date`);
  const built = join(cache, 'discovery-image', inputs.digest.slice(0, 24));
  if (!existsSync(built)) await buildInto(built, inputs, cache, log);
  await mkdir(out, { recursive: true });
  // The manifest last: its presence means that the other files are complete.
  await rm(join(out, manifestFile), { force: true });
  for (const file of [...imageFiles, manifestFile]) await copyFile(join(built, file), join(out, file));
  for (const file of imageFiles) log(`${join(out, file)}  ${megabytes((await stat(join(out, file))).size)}`);
}

async function digestIn(out: string): Promise<string | undefined> {
  const manifest = await readFile(join(out, manifestFile), 'utf8').catch(() => '{}');
  const complete = imageFiles.every((file) => existsSync(join(out, file)));
  // Written by this program, and only compared.
  return complete ? (JSON.parse(manifest) as { digest?: string }).digest : undefined;
}

/** Builds beside the final path and renames, so that the result is always complete. */
async function buildInto(built: string, inputs: Inputs, cache: string, log: ImageOptions['log']): Promise<void> {
  await mkdir(dirname(built), { recursive: true });
  const scratch = await mkdtemp(`${built}.partial-`);
  try {
    const result = join(scratch, 'image');
    await mkdir(result);
    await buildFiles(inputs, { result, scratch, packages: join(cache, 'debian-packages'), log });
    await rename(result, built);
  } catch (error) {
    if (!existsSync(built)) throw error;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

interface Places {
  readonly result: string;
  readonly scratch: string;
  readonly packages: string;
  readonly log: ImageOptions['log'];
}

async function buildFiles(inputs: Inputs, { result, scratch, packages, log }: Places): Promise<void> {
  log(`fetching ${inputs.packages.length} packages`);
  const paths = await fetchPackages(inputs.packages, packages);
  log(`unpacking them, with kernel ${inputs.kernel}`);
  const unpacked = join(scratch, 'unpacked');
  await mkdir(unpacked);
  await unpackPackages(paths, unpacked);
  const archive = cpio(await rootFileSystem(inputs, unpacked, scratch));
  const archiveFile = join(scratch, 'initrd.cpio');
  await writeFile(archiveFile, archive);
  log(`compressing ${megabytes(archive.length)}: about a minute on two cores`);
  // The output differs between one worker and several, not with their number: -T2 is the same on every machine.
  await tool('zstd', ['-19', '-T2', '-q', archiveFile, '-o', join(result, 'initrd')]);
  await copyFile(join(unpacked, 'boot', inputs.kernel.replace(/^linux-image/, 'vmlinuz')), join(result, 'vmlinuz'));
  await writeUnified(result, scratch, unpacked);
  await writeManifest(result, inputs);
}

async function writeUnified(result: string, scratch: string, unpacked: string): Promise<void> {
  const text = async (name: string, content: string) => {
    await writeFile(join(scratch, name), content);
    return join(scratch, name);
  };
  const sections = {
    '.osrel': await text('osrel', 'ID=metal-discovery\nNAME="Discovery system"\nPRETTY_NAME="Discovery system"\n'),
    '.cmdline': await text('cmdline', `${commandLine}\0`),
    '.initrd': join(result, 'initrd'),
    '.linux': join(result, 'vmlinuz'),
  };
  const stub = join(unpacked, 'usr/lib/systemd/boot/efi/linuxx64.efi.stub');
  await buildUnifiedKernelImage({ stub, sections }, join(result, 'discovery.efi'));
}

async function writeManifest(result: string, inputs: Inputs): Promise<void> {
  const files = await Promise.all(
    imageFiles.map(async (name) => {
      const path = join(result, name);
      return { name, sizeBytes: (await stat(path)).size, sha256: await sha256Of(path) };
    }),
  );
  const { digest, kernel, tools } = inputs;
  const packages = inputs.packages.map(({ name, version, sha256 }) => ({ name, version, sha256 }));
  const manifest = { digest, kernel, node: process.version, tools, files, packages };
  await writeFile(join(result, manifestFile), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(path)) hash.update(part);
  return hash.digest('hex');
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
