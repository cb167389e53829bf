import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Child } from '@metal/process/child.ts';
import { countCompiled, countDownloads, countStale, progressLine } from './build-progress.ts';
import { ControlPlaneError } from './errors.ts';
import { moduleDirectory, type Recipe } from './recipe.ts';

const progressEveryMs = 20_000;

const packages = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
} as const;

export type ProgramName = keyof typeof packages;

export interface BuildOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Builds into a directory beside the final one and moves each program when all are complete. */
export async function buildPrograms(
  recipe: Recipe,
  names: readonly ProgramName[],
  options: BuildOptions,
): Promise<void> {
  const { directory } = recipe;
  options.log(`building ${names.map((name) => titleOf(name, recipe)).join(', ')} with Go, once`);
  const partial = `${directory}.partial-${process.pid}`;
  await mkdir(partial, { recursive: true, mode: 0o700 });
  try {
    await goBuild(partial, names, recipe, options);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    // Go names a program after the last segment of its path.
    for (const name of names) await rename(join(partial, programOf(packages[name])), join(directory, name));
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

const titleOf = (name: ProgramName, { etcd, kubernetes }: Recipe): string =>
  `${name} ${name === 'etcd' ? etcd : kubernetes}`;

const programOf = (path: string): string => basename(path.replace(/\/v\d+$/, ''));

/** Removes what killed processes have left beside the directory. */
export async function removePartials(directory: string): Promise<void> {
  const isPartial = (name: string) => name.startsWith(`${basename(directory)}.partial-`);
  const names = (await readdir(dirname(directory))).filter(isPartial);
  await Promise.all(names.map((name) => rm(join(dirname(directory), name), { recursive: true, force: true })));
}

async function goBuild(
  output: string,
  names: readonly ProgramName[],
  recipe: Recipe,
  options: BuildOptions,
): Promise<void> {
  const startedAt = performance.now();
  const paths = names.map((name) => packages[name]);
  const listed = await runGo(['list', '-trimpath', '-deps', '-f', '{{.StaleReason}}', ...paths], output, {
    ...options,
    progress: (text) => `downloading the sources: ${countDownloads(text)} Go modules so far`,
  });
  const stale = countStale(listed);
  const compileStartedAt = performance.now();
  const flags = ['-v', '-trimpath', '-ldflags', recipe.linkerFlags, '-o', `${output}/`];
  await runGo(['build', ...flags, ...paths], output, {
    ...options,
    progress: (text) =>
      progressLine({ compiled: countCompiled(text), stale, elapsedMs: performance.now() - compileStartedAt }),
  });
  options.log(`built in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
}

/** Returns the output. It logs the progress in it from time to time. */
async function runGo(
  args: readonly [command: string, ...string[]],
  output: string,
  { environment, log, signal, progress }: BuildOptions & { progress: (text: string) => string },
): Promise<string> {
  signal?.throwIfAborted();
  const [command] = args;
  const logFile = join(output, `go-${command}.log`);
  const child = new Child({
    name: `go ${command}`,
    command: 'go',
    args,
    directory: moduleDirectory,
    logFile,
    environment: { ...environment, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' },
    leftovers: output,
  });
  const report = () => readFile(logFile, 'utf8').then((text) => log(progress(text)));
  // The file is gone when the build has just ended.
  const timer = setInterval(() => void report().catch(() => undefined), progressEveryMs);
  const abort = () => void child.kill();
  signal?.addEventListener('abort', abort);
  try {
    const code = await child.exited;
    signal?.throwIfAborted();
    if (code === 0) return await readFile(logFile, 'utf8');
    throw new ControlPlaneError('BuildFailed', `go ${command} failed; the end of its output:\n${child.lastLogLines}`);
  } finally {
    clearInterval(timer);
    signal?.removeEventListener('abort', abort);
  }
}
