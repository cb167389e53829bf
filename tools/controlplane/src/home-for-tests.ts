import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Builds by touching files, and notes each program. */
export const buildingGo = `
[ "$1" = env ] && echo go1.26.8
[ "$1" = build ] || exit 0
while [ "$1" != -o ]; do shift; done
output=$2; shift 2
for path; do
  name=\${path##*/}; [ "$name" = v3 ] && name=server
  touch "$output$name"; echo "$name" >> "$HOME/builds"
done`;

export const kubectlOf = (version: string): string => `echo '{ "clientVersion": { "gitVersion": "${version}" } }'`;

export interface HomeOptions {
  /** Script of `go`; undefined: the command is missing. */
  readonly go?: string | undefined;
  /** Script of `kubectl`. Default: too old for every API server. */
  readonly kubectl?: string;
  /** Default: no downloads. */
  readonly downloadUrl?: string;
}

export interface Home extends AsyncDisposable {
  readonly path: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Programs that were built, in order. */
  builds(): Promise<string[]>;
}

/** A home directory with an empty cache, and scripts that hide the programs of this machine. */
export async function openHome({ go, kubectl = kubectlOf('v1.2.0'), downloadUrl = '' }: HomeOptions): Promise<Home> {
  const path = await mkdtemp(join(tmpdir(), 'metal-control-plane-test-'));
  const bin = join(path, 'bin');
  await mkdir(bin);
  const scripts = { go: go ?? 'exit 127', kubectl };
  for (const [name, script] of Object.entries(scripts))
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const PATH = `${bin}:/bin:/usr/bin`;
  const notes = join(path, 'builds');
  return {
    path,
    environment: { PATH, HOME: path, XDG_CACHE_HOME: join(path, 'cache'), ENVTEST_DOWNLOAD_URL: downloadUrl },
    builds: async () => (existsSync(notes) ? (await readFile(notes, 'utf8')).trim().split('\n') : []),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
