import { parse } from 'yaml';
import type { Pins } from './envtest.ts';

const platforms = ['darwin-amd64', 'darwin-arm64', 'linux-amd64', 'linux-arm64'];

/** `envtest-releases.yaml` of controller-tools. */
interface Releases {
  readonly releases: Readonly<Record<string, Readonly<Record<string, { readonly hash: string }>>>>;
}

/** The pins of the newest release with this minor version, for example v1.36. */
export function pinsFrom(text: string, minor: string): Pins {
  // The digests are checked below.
  const { releases } = parse(text) as Releases;
  const patchOf = (version: string) => Number(version.slice(minor.length + 1));
  const versions = Object.keys(releases).filter((version) => new RegExp(`^${minor}\\.\\d+$`).test(version));
  const [newest] = versions.toSorted((one, other) => patchOf(other) - patchOf(one));
  if (newest === undefined) throw new Error(`expected a release ${minor}.x, found ${Object.keys(releases).join(', ')}`);
  const digestOf = (platform: string) => releases[newest]?.[`envtest-${newest}-${platform}.tar.gz`]?.hash ?? '';
  const entries = platforms.map((platform) => [platform, digestOf(platform)] as const);
  const missing = entries.filter(([, digest]) => !/^[0-9a-f]{128}$/.test(digest)).map(([platform]) => platform);
  if (missing.length > 0) throw new Error(`envtest ${newest} has no SHA-512 for ${missing.join(', ')}`);
  return { version: newest, sha512: Object.fromEntries(entries) };
}
