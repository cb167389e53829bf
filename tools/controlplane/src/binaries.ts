import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buildPrograms, requireGo } from './build.ts';
import { ControlPlaneError } from './errors.ts';
import { takeFileLock } from './file-lock.ts';
import { readRecipe } from './recipe.ts';

export interface Binaries {
  readonly directory: string;
  readonly etcd: string;
  readonly apiServer: string;
  /** Absent in some KUBEBUILDER_ASSETS. */
  readonly controllerManager: string | undefined;
  readonly kubectl: string;
}

export interface BinariesOptions {
  /** Directory with the binaries. Default: $KUBEBUILDER_ASSETS. */
  readonly assets?: string | undefined;
  readonly environment?: NodeJS.ProcessEnv | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Receives lines of progress. */
  readonly log?: ((line: string) => void) | undefined;
}

/**
 * Finds the control plane's binaries, or builds them once per version into the user's cache. Concurrent processes build them
 * once.
 * @throws ControlPlaneError GoMissing, BuildFailed or AssetsIncomplete; the signal's reason.
 */
export async function findBinaries({
  assets,
  environment = process.env,
  signal,
  log = () => undefined,
}: BinariesOptions = {}): Promise<Binaries> {
  const ready = assets ?? environment.KUBEBUILDER_ASSETS;
  if (ready !== undefined && ready !== '') return fromAssets(ready);
  const recipe = await readRecipe(environment);
  if (isComplete(recipe.directory)) return binariesIn(recipe.directory);
  await requireGo(environment);
  await mkdir(dirname(recipe.directory), { recursive: true });
  const onWait = () => log('another process builds the control plane; waiting for it');
  await using _lock = await takeFileLock(`${recipe.directory}.lock`, { signal, onWait });
  if (!isComplete(recipe.directory)) await buildPrograms(recipe, { environment, log, signal });
  return binariesIn(recipe.directory);
}

function fromAssets(directory: string): Binaries {
  const missing = ['etcd', 'kube-apiserver', 'kubectl'].filter((name) => !existsSync(join(directory, name)));
  if (missing.length === 0) return binariesIn(directory);
  throw new ControlPlaneError(
    'AssetsIncomplete',
    `KUBEBUILDER_ASSETS=${directory} lacks ${missing.join(', ')}; set it to a directory with etcd, kube-apiserver, kubectl and, for garbage collection, kube-controller-manager, or unset it to build all of them with Go`,
  );
}

function binariesIn(directory: string): Binaries {
  const controllerManager = join(directory, 'kube-controller-manager');
  return {
    directory,
    etcd: join(directory, 'etcd'),
    apiServer: join(directory, 'kube-apiserver'),
    controllerManager: existsSync(controllerManager) ? controllerManager : undefined,
    kubectl: join(directory, 'kubectl'),
  };
}

const isComplete = (directory: string): boolean =>
  ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'].every((name) => existsSync(join(directory, name)));
