import type { KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildLayout, type DatedBuild } from '@metal/container/build-container.ts';
import { repository } from '@metal/container/bundle.ts';
import { installManifest } from '@metal/project/generate/chart/install-manifest.ts';
import { filesBelow, signSums, sumsFile, writeSums } from './checksums.ts';
import { discoveryLayout } from './discovery-layout.ts';
import { ReleaseError } from './errors.ts';
import { layoutArchive } from './layout-archive.ts';
import { releaseNotes } from './release-notes.ts';
import { copyChart, packageChart } from './released-chart.ts';

export interface ReleaseOptions {
  /** Directory of the result. A release that is there is replaced. */
  readonly out: string;
  readonly build: DatedBuild;
  readonly changelog: string;
  /** Path of the program. */
  readonly helm: string;
  /** Writes kernel, initrd and UKI to a directory. Without it, the release has no discovery image. */
  readonly writeDiscoveryImage?: (directory: string, log: (line: string) => void) => Promise<void>;
  /** Signs SHA256SUMS. */
  readonly signingKey?: KeyObject;
  readonly log: (line: string) => void;
}

/**
 * Builds all files of a release; publishes nothing. The same commit, lock files and build tools yield the same SHA256SUMS.
 * @throws ReleaseError, ImageError with the remedy. The output directory then is as before.
 */
export async function buildRelease(options: ReleaseOptions): Promise<void> {
  const { out, signingKey, log } = options;
  await requireReplaceable(out);
  await mkdir(dirname(out), { recursive: true });
  const partial = await mkdtemp(`${out}.partial-`);
  const scratch = await mkdtemp(join(tmpdir(), 'metal-release-'));
  try {
    await writeFiles({ ...options, out: partial }, scratch);
    log('checksums');
    await writeSums(partial);
    if (signingKey !== undefined) await signSums(partial, signingKey);
    await chmod(partial, 0o755);
    await rm(out, { recursive: true, force: true });
    await rename(partial, out);
  } finally {
    for (const directory of [partial, scratch]) await rm(directory, { recursive: true, force: true });
  }
  for (const path of await filesBelow(out)) log(`${await sizeOf(join(out, path))}  ${join(out, path)}`);
}

/** Only a release may be removed: the directory is given by a person. */
async function requireReplaceable(out: string): Promise<void> {
  if (!existsSync(out)) return;
  const found = await readdir(out);
  if (found.length === 0 || found.includes(sumsFile)) return;
  throw new ReleaseError(
    'OutputInUse',
    `expected no directory ${out}, or one with an earlier release; found ${found.slice(0, 3).join(', ')}. Name another with --out`,
  );
}

async function writeFiles(options: ReleaseOptions, scratch: string): Promise<void> {
  const { out, build, changelog, helm, writeDiscoveryImage, log } = options;
  await writeFile(join(out, 'release-notes.md'), releaseNotes(changelog, build.version));
  log('container images');
  const digests = await writeContainer(out, build, scratch, log);
  log('chart and manifests');
  const chart = join(scratch, 'metal-operator');
  await copyChart(chart, { version: build.version, digests });
  await packageChart(helm, chart, out);
  const install = await installManifest(helm, chart);
  await writeFile(join(out, install.name), install.text);
  await writeFile(join(out, 'crds.yaml'), await joined('deploy/crds'));
  for (const path of ['deploy/prometheus/alerts.yaml', 'deploy/grafana/metal-operator.json'])
    await copyFile(join(repository, path), join(out, path.replace('deploy/', '').replace('/', '-')));
  if (writeDiscoveryImage === undefined) return;
  log('discovery image: some minutes unless it is in the cache');
  const discovery = join(out, 'discovery');
  await writeDiscoveryImage(discovery, (line) => log(`  ${line.replace(`${out}/`, '')}`));
  const layout = await discoveryLayout(discovery, join(scratch, 'discovery'), build.version);
  await writeFile(join(out, `metal-discovery-${build.version}-oci.tar`), await layoutArchive(layout));
}

async function writeContainer(
  out: string,
  build: DatedBuild,
  scratch: string,
  log: ReleaseOptions['log'],
): Promise<{ manager: string; dhcp: string }> {
  const container = join(scratch, 'container');
  const { layoutDirectory, images } = await buildLayout({ out: container, build, log });
  await writeFile(join(out, `metal-operator-${build.version}-oci.tar`), await layoutArchive(layoutDirectory));
  for (const { tag, digest } of Object.values(images)) {
    log(`  ${tag}  ${digest}`);
    await copyFile(join(container, `${tag}.cdx.json`), join(out, `metal-operator-${tag}.cdx.json`));
  }
  return { manager: images.plain.digest, dhcp: images.dhcp.digest };
}

/** The YAML files of a folder as one. */
async function joined(folder: string): Promise<string> {
  const paths = await filesBelow(join(repository, folder));
  const texts = await Promise.all(paths.map((path) => readFile(join(repository, folder, path), 'utf8')));
  return texts.join('');
}

const sizeOf = async (path: string): Promise<string> => `${((await stat(path)).size / 1e6).toFixed(3).padStart(7)} MB`;
