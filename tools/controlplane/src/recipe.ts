import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheDirectory } from '@metal/process/cache-directory.ts';

/** The directory of go.mod, which has the versions. */
export const moduleDirectory = dirname(dirname(fileURLToPath(import.meta.url)));

/** Versions, build flags and cache directory of the programs. */
export interface Recipe {
  readonly kubernetes: string;
  readonly etcd: string;
  readonly linkerFlags: string;
  /** Its name has the versions, the platform and a digest of all other inputs of the build. */
  readonly directory: string;
}

export async function readRecipe(environment: NodeJS.ProcessEnv): Promise<Recipe> {
  const module = await readFile(join(moduleDirectory, 'go.mod'), 'utf8');
  const sums = await readFile(join(moduleDirectory, 'go.sum'), 'utf8');
  const versionOf = (path: string) =>
    new RegExp(`^\\s*${path.replaceAll('.', '\\.')} (v\\S+)`, 'm').exec(module)?.[1] ?? 'unknown';
  const kubernetes = versionOf('k8s.io/kubernetes');
  const etcd = versionOf('go.etcd.io/etcd/server/v3');
  const linkerFlags = linkerFlagsFor(kubernetes);
  const digest = createHash('sha256').update(module).update(sums).update(linkerFlags).digest('hex').slice(0, 12);
  const name = `kubernetes-${kubernetes}-etcd-${etcd}-${process.platform}-${process.arch}-${digest}`;
  return { kubernetes, etcd, linkerFlags, directory: join(cacheDirectory(environment), 'control-plane', name) };
}

/** Without the stamps, `kubectl version` and the API server report v0.0.0-master. */
function linkerFlagsFor(version: string): string {
  const [major, minor] = version.slice(1).split('.');
  // A module has no commit, and a build date would change every build.
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'archive', gitCommit: '' };
  const stamps = Object.entries(values).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  return ['-s', '-w', ...stamps].join(' ');
}
