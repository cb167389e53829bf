import { execFile } from 'node:child_process';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Child } from '@metal/process/child.ts';
import { ControlPlaneError } from './errors.ts';
import { moduleDirectory, type Recipe } from './recipe.ts';

const run = promisify(execFile);
const progressEveryMs = 20_000;
const goInstallHint =
  'install Go 1.26 or newer (https://go.dev/dl), or point KUBEBUILDER_ASSETS at a directory with etcd, kube-apiserver, kube-controller-manager and kubectl';

export interface BuildOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** @throws ControlPlaneError GoMissing, with both remedies. */
export async function requireGo(environment: NodeJS.ProcessEnv): Promise<void> {
  const { stdout } = await run('go', ['env', 'GOVERSION'], { env: { ...environment, GOTOOLCHAIN: 'local' } }).catch(
    (error: unknown) => {
      throw goMissing('no usable go command was found', error);
    },
  );
  const [major = 0, minor = 0] = stdout.trim().replace(/^go/, '').split('.').map(Number);
  if (major > 1 || (major === 1 && minor >= 26)) return;
  throw goMissing(`found ${stdout.trim()}`);
}

const goMissing = (found: string, cause?: unknown): ControlPlaneError =>
  new ControlPlaneError(
    'GoMissing',
    `the control plane is built with Go 1.26 or newer, ${found}: ${goInstallHint}`,
    cause,
  );

/** Builds into a directory beside the final one and renames it, so that the final one is always complete. */
export async function buildPrograms(recipe: Recipe, options: BuildOptions): Promise<void> {
  const { directory, kubernetes, etcd } = recipe;
  options.log(
    `building etcd ${etcd} and kube-apiserver, kube-controller-manager and kubectl ${kubernetes}: once, about five minutes on two cores`,
  );
  await removePartials(directory);
  const partial = `${directory}.partial-${process.pid}`;
  await mkdir(partial, { recursive: true });
  try {
    await goBuild(partial, recipe, options);
    // Go names a program after the last segment of its path.
    await rename(join(partial, 'server'), join(partial, 'etcd'));
    await rm(directory, { recursive: true, force: true });
    await rename(partial, directory);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** Directories of killed builds. */
async function removePartials(directory: string): Promise<void> {
  const isPartial = (name: string) => name.startsWith(`${basename(directory)}.partial-`);
  const names = (await readdir(dirname(directory))).filter(isPartial);
  await Promise.all(names.map((name) => rm(join(dirname(directory), name), { recursive: true, force: true })));
}

async function goBuild(output: string, recipe: Recipe, { environment, log, signal }: BuildOptions): Promise<void> {
  signal?.throwIfAborted();
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 1_000);
  const child = new Child({
    name: 'go build',
    command: 'go',
    args: ['build', '-trimpath', '-ldflags', recipe.linkerFlags, '-o', `${output}/`, 'tool'],
    directory: moduleDirectory,
    logFile: join(output, 'build.log'),
    environment: { ...environment, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' },
    leftovers: output,
  });
  const progress = setInterval(() => log(`still building (${seconds()} s)`), progressEveryMs);
  const abort = () => void child.kill();
  signal?.addEventListener('abort', abort);
  try {
    const code = await child.exited;
    signal?.throwIfAborted();
    if (code !== 0)
      throw new ControlPlaneError('BuildFailed', `go build failed; the end of its output:\n${child.lastLogLines}`);
    log(`built in ${seconds()} s`);
  } finally {
    clearInterval(progress);
    signal?.removeEventListener('abort', abort);
  }
}
