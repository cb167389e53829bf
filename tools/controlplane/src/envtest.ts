import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory } from '@metal/process/cache-directory.ts';
import { moduleDirectory } from './recipe.ts';

/** The pins: version of the archives, and the SHA-512 of each by platform. */
export const pinsFile = join(moduleDirectory, 'envtest-releases.json');
const officialUrl = 'https://github.com/kubernetes-sigs/controller-tools/releases/download';

export interface Pins {
  readonly version: string;
  readonly sha512: Readonly<Record<string, string>>;
}

/** The envtest archive of controller-tools for this platform: etcd, kube-apiserver and kubectl. */
export interface Archive {
  readonly version: string;
  readonly url: string;
  /** Hex. */
  readonly sha512: string;
  /** In the cache; its name has the version, the platform and the start of the digest. */
  readonly directory: string;
}

/** The platform as Go names it. */
export const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;

export async function readPins(file = pinsFile): Promise<Pins> {
  // Written by `update-envtest.ts` of this package.
  return JSON.parse(await readFile(file, 'utf8')) as Pins;
}

/** The archive that is pinned for this platform. Its URL is empty if ENVTEST_DOWNLOAD_URL is. */
export async function pinnedArchive(environment: NodeJS.ProcessEnv, pins?: Pins): Promise<Archive | undefined> {
  const { version, sha512: digests } = pins ?? (await readPins());
  const sha512 = digests[platform];
  if (sha512 === undefined) return undefined;
  const name = `envtest-${version}-${platform}`;
  const base = (environment.ENVTEST_DOWNLOAD_URL ?? officialUrl).replace(/\/+$/, '');
  const url = base === '' ? '' : `${base}/envtest-${version}/${name}.tar.gz`;
  const directory = join(cacheDirectory(environment), 'control-plane', `${name}-${sha512.slice(0, 12)}`);
  return { version, url, sha512, directory };
}
