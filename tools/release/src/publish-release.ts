import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tool } from '@metal/discovery-image/tool.ts';
import { sumsFile, sumsOf } from './checksums.ts';
import { ReleaseError } from './errors.ts';

export interface PublishOptions {
  /** Directory of a release. */
  readonly from: string;
  readonly version: string;
  /** Host with an optional path, such as `registry.example/team`. */
  readonly registry: string;
  /** HTTP instead of HTTPS. */
  readonly plainHttp: boolean;
  /** Path of the program. */
  readonly helm: string;
  readonly log: (line: string) => void;
}

/** Host with an optional port and path, without a scheme. */
const registryName = /^[a-z\d][a-z\d.-]*(?::\d+)?(?:\/[a-z\d][a-z\d._-]*)*$/i;

/**
 * Pushes the images to `REGISTRY/metal-operator` and the chart to `REGISTRY/charts/metal-operator`. skopeo and Helm have their own
 * logins. A repetition changes nothing. @throws ReleaseError RegistryInvalid, ReleaseDamaged, TagTaken,
 * DigestDiffers
 */
export async function publishRelease(options: PublishOptions): Promise<void> {
  const { from, version, registry, plainHttp, helm, log } = options;
  if (!registryName.test(registry))
    throw new ReleaseError(
      'RegistryInvalid',
      `expected a registry such as registry.example/team, found "${registry}": make publish VERSION=${version} REGISTRY=registry.example/team`,
    );
  await requireUndamaged(from, version);
  const archive = join(from, `metal-operator-${version}-oci.tar`);
  const repository = `${registry}/metal-operator`;
  const images = await imagesOf(archive);
  // Before anything is pushed, so that a version is published as a whole.
  for (const { tag, digest } of images) await requireFree(`${repository}:${tag}`, digest, options);
  for (const { tag, digest } of images) {
    log(`${repository}:${tag}`);
    const target = [
      `--dest-tls-verify=${!plainHttp}`,
      `oci-archive:${archive}:${tag}`,
      `docker://${repository}:${tag}`,
    ];
    // The policy of skopeo is about the source, whose digests were verified above.
    await tool('skopeo', ['--insecure-policy', 'copy', '--quiet', '--preserve-digests', ...target]);
    const found = await digestAt(`${repository}:${tag}`, options);
    if (found !== digest)
      throw new ReleaseError(
        'DigestDiffers',
        `expected ${digest} at ${repository}:${tag}, found ${found}. Do not use this tag`,
      );
    log(`  ${repository}@${digest}`);
  }
  log(`oci://${registry}/charts/metal-operator:${version}`);
  const chart = join(from, `metal-operator-${version}.tgz`);
  await tool(helm, ['push', chart, `oci://${registry}/charts`, ...(plainHttp ? ['--plain-http'] : [])]);
}

async function requireUndamaged(from: string, version: string): Promise<void> {
  const remedy = `make release VERSION=${version}`;
  if (!existsSync(join(from, sumsFile)))
    throw new ReleaseError('ReleaseDamaged', `expected a release in ${from}, found no ${sumsFile}: ${remedy}`);
  const expected = (await readFile(join(from, sumsFile), 'utf8')).split('\n');
  const found = new Set((await sumsOf(from)).split('\n'));
  const differing = expected.filter((line) => !found.has(line)).map((line) => line.replace(/^\S+ {2}/, ''));
  if (differing.length === 0) return;
  throw new ReleaseError(
    'ReleaseDamaged',
    `expected the files of ${sumsFile} in ${from}, found others: ${differing.join(', ')}. Build the release again: ${remedy}`,
  );
}

async function imagesOf(archive: string): Promise<{ tag: string; digest: string }[]> {
  // Written by this project.
  const { manifests } = JSON.parse(await tool('tar', ['-xOf', archive, 'index.json'])) as {
    manifests: { digest: string; annotations: Record<string, string> }[];
  };
  return manifests.map(({ digest, annotations }) => ({
    tag: annotations['org.opencontainers.image.ref.name'] ?? '',
    digest,
  }));
}

async function requireFree(reference: string, digest: string, options: PublishOptions): Promise<void> {
  const found = await digestAt(reference, options);
  if (found === undefined || found === digest) return;
  throw new ReleaseError(
    'TagTaken',
    `expected no image at ${reference}, or ${digest}; found ${found}. A published version stays as it is: release another one`,
  );
}

/** Undefined where there is no image. */
async function digestAt(reference: string, { plainHttp }: PublishOptions): Promise<string | undefined> {
  try {
    const parameters = ['inspect', `--tls-verify=${!plainHttp}`, '--format', '{{.Digest}}', `docker://${reference}`];
    return (await tool('skopeo', parameters)).trim();
  } catch (error) {
    if (error instanceof Error && /manifest unknown|name unknown|repository .* not known/i.test(error.message))
      return undefined;
    throw error;
  }
}
