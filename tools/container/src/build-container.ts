import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry } from '@metal/discovery-image/archive-entries.ts';
import { tool } from '@metal/discovery-image/tool.ts';
import { type Bundle, type Build, bundleOperator, repository } from './bundle.ts';
import { butaneComponent } from './butane-component.ts';
import type { Component } from './component.ts';
import { configurationOf } from './configuration.ts';
import { debianComponents, unpackDebian } from './debian-components.ts';
import { readLock } from './image-lock.ts';
import { nodeComponent } from './node-program.ts';
import { OciLayout } from './oci-layout.ts';
import { directories, texts, type Variant, variants } from './recipe.ts';
import { sbomOf } from './sbom.ts';
import { tar } from './tar.ts';

export interface BuildOptions {
  /** Directory for the results; those of an earlier build are replaced. */
  readonly out: string;
  readonly log: (line: string) => void;
  /** Of the image that is unpacked. Both are in the layout. Default: `plain`. */
  readonly variant?: Variant;
  /** Default: version of package.json, revision and time of HEAD. */
  readonly build?: DatedBuild;
}

export interface DatedBuild extends Build {
  /** Seconds since 1970. */
  readonly createdSeconds: number;
}

export interface Container {
  /** An OCI image layout. */
  readonly layoutDirectory: string;
  /** The unpacked layers. */
  readonly rootDirectory: string;
  /** Of the manifest. */
  readonly digest: string;
}

/**
 * Builds both images into one layout, without a daemon and without root, and unpacks one of them. The same commit, lock files and
 * build tools yield the same digests. @throws ImageError with the remedy.
 */
export async function buildContainer({ variant = 'plain', ...options }: BuildOptions): Promise<Container> {
  const { layoutDirectory, images } = await buildLayout(options);
  const { digest } = images[variant];
  const rootDirectory = join(options.out, 'root');
  await rm(rootDirectory, { recursive: true, force: true });
  await mkdir(rootDirectory, { recursive: true });
  for (const layer of images[variant].layers)
    await tool('tar', ['-xpzf', join(layoutDirectory, 'blobs', layer.replace(':', '/')), '-C', rootDirectory]);
  return { layoutDirectory, rootDirectory, digest };
}

export interface Layout {
  readonly layoutDirectory: string;
  readonly images: Readonly<Record<Variant, { tag: string; digest: string; layers: readonly string[] }>>;
}

/** `oci`: the layout; `debug`: source maps; `TAG.cdx.json`: the SBOM of each image, which is also in it. */
export async function buildLayout({ out, log, build }: Omit<BuildOptions, 'variant'>): Promise<Layout> {
  const own = build ?? (await buildOfCheckout());
  const scratch = await mkdtemp(join(tmpdir(), 'metal-container-'));
  try {
    const parts = await partsOfImage(own, scratch, log);
    for (const folder of ['oci', 'debug']) await rm(join(out, folder), { recursive: true, force: true });
    const layoutDirectory = join(out, 'oci');
    await mkdir(join(out, 'debug'), { recursive: true });
    for (const map of parts.bundle.maps)
      if (map.type === 'file') await writeFile(join(out, 'debug', map.path), map.content);
    return { layoutDirectory, images: await writeImages(new OciLayout(layoutDirectory), parts, { out, own }) };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

interface Parts {
  readonly bundle: Bundle;
  /** Of the layer that changes with Node and Debian only. */
  readonly base: readonly Component[];
  /** Of the additional layer of the image with DHCP. */
  readonly dhcp: readonly Component[];
}

async function partsOfImage(own: Build, scratch: string, log: BuildOptions['log']): Promise<Parts> {
  const lock = await readLock();
  const [bundle, node, butane, debian] = await Promise.all([
    bundleOperator(own),
    nodeComponent(lock, scratch),
    butaneComponent(log),
    unpackDebian(lock.packages, scratch),
  ]);
  const nodeProgram = join(scratch, 'node/package/bin/node');
  const [plain, dhcp] = await Promise.all([
    debianComponents('plain', debian, [nodeProgram]),
    debianComponents('dhcp', debian, []),
  ]);
  return { bundle, base: [node, butane, ...plain], dhcp };
}

/** Files and directories that belong to no component. */
const ownEntries: readonly Entry[] = [
  ...Object.entries(directories).map(([path, mode]): Entry => ({ path, type: 'directory', mode })),
  ...Object.entries(texts).map(([path, text]) => textEntry(path, text)),
];

function textEntry(path: string, text: string): Entry {
  return { path, type: 'file', executable: false, content: Buffer.from(text) };
}

const entriesOf = (components: readonly Component[]): Entry[] => components.flatMap(({ entries }) => entries);

export const sbomPath = 'usr/share/sbom/metal-operator.cdx.json';

async function writeImages(
  layout: OciLayout,
  { bundle, base, dhcp }: Parts,
  { out, own }: { out: string; own: DatedBuild },
): Promise<Layout['images']> {
  const { version, revision, createdSeconds } = own;
  const created = new Date(createdSeconds * 1_000).toISOString().replace('.000Z', 'Z');
  const [baseLayer, dhcpLayer] = await Promise.all([
    layout.addLayer({ createdBy: 'Node.js, butane, libraries', tar: tar([...entriesOf(base), ...ownEntries]) }),
    layout.addLayer({ createdBy: 'dnsmasq and its shell', tar: tar(entriesOf(dhcp)) }),
  ]);
  const write = async (variant: Variant) => {
    const tag = variant === 'plain' ? version : `${version}-${variant}`;
    const components = [bundle.component, ...base, ...(variant === 'dhcp' ? dhcp : [])];
    const sbom = sbomOf({ name: 'metal-operator', version: tag, createdSeconds, components });
    await writeFile(join(out, `${tag}.cdx.json`), sbom);
    const programTar = tar([...bundle.component.entries, textEntry(sbomPath, sbom)]);
    const program = await layout.addLayer({ createdBy: 'metal-operator', tar: programTar });
    const layers = [baseLayer, ...(variant === 'dhcp' ? [dhcpLayer] : []), program];
    const configuration = configurationOf(variant, { version: tag, revision, created });
    const digest = await layout.addImage({ tag, created, configuration, layers });
    return [variant, { tag, digest, layers: layers.map((layer) => layer.digest) }] as const;
  };
  const [plain, withDhcp] = [await write(variants[0]), await write(variants[1])];
  await layout.writeIndex();
  return { plain: plain[1], dhcp: withDhcp[1] };
}

/** Changed files make the revision end with `-modified`. */
export async function buildOfCheckout(): Promise<DatedBuild> {
  // Written by this project.
  const { version } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as { version: string };
  const git = async (...parameters: string[]) => (await tool('git', ['-C', repository, ...parameters])).trim();
  const [revision = '', seconds] = (await git('show', '--no-patch', '--format=%H %ct')).split(' ');
  const isModified = (await git('status', '--porcelain')) !== '';
  return { version, revision: `${revision}${isModified ? '-modified' : ''}`, createdSeconds: Number(seconds) };
}
