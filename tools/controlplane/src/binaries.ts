import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildPrograms, type ProgramName } from './build.ts';
import type { Pins } from './envtest.ts';
import { ControlPlaneError } from './errors.ts';
import { requireGo } from './go.ts';
import { kubectlInPath, outputOf } from './kubectl.ts';
import { downloadOrBuild, lockCache, type Places, placesOf } from './prepare.ts';

const archived = ['etcd', 'kube-apiserver', 'kubectl'] as const;
const controllerManager = 'kube-controller-manager';

export interface Binaries {
  readonly directory: string;
  readonly etcd: string;
  readonly apiServer: string;
  /** In the directory; else the one of PATH. */
  readonly kubectl: string;
  /** The directory is KUBEBUILDER_ASSETS or a similar one, not one of the cache. */
  readonly given: boolean;
}

export interface BinariesOptions {
  /** Directory with the binaries. Default: $KUBEBUILDER_ASSETS. */
  readonly assets?: string | undefined;
  readonly environment?: NodeJS.ProcessEnv | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Receives lines of progress. */
  readonly log?: ((line: string) => void) | undefined;
  /** Version and digests of the archives. Default: envtest-releases.json. */
  readonly pins?: Pins | undefined;
}

/**
 * Finds the control plane's binaries in the user's cache; else downloads them, or builds those that are missing. Concurrent
 * processes do it once.
 * @throws ControlPlaneError GoMissing, BuildFailed or AssetsIncomplete; the signal's reason.
 */
export async function findBinaries(options: BinariesOptions = {}): Promise<Binaries> {
  const { environment = process.env, assets = environment.KUBEBUILDER_ASSETS } = options;
  if (assets !== undefined && assets !== '') return fromAssets(assets, environment);
  const places = await placesFor(options);
  const found = await cached(places);
  if (found !== undefined) return found;
  await using _lock = await lockCache(places);
  const prepared = await cached(places);
  if (prepared !== undefined) return prepared;
  const { directory, kubernetes } = places.recipe;
  const fromPath = await kubectlInPath(environment, kubernetes);
  const wanted = archived.filter((name) => name !== 'kubectl' || !fromPath);
  const ready = await downloadOrBuild(places, missingIn(directory, wanted));
  return binariesIn(ready, kubectlIn(ready) ?? fromPath);
}

/**
 * Path of kube-controller-manager, which the archives lack: it is built when something starts it.
 * @throws ControlPlaneError as `findBinaries`.
 */
export async function findControllerManager(
  { directory, given }: Pick<Binaries, 'directory' | 'given'>,
  options: BinariesOptions = {},
): Promise<string> {
  const own = join(directory, controllerManager);
  if (existsSync(own)) return own;
  if (given) throw assetsIncomplete(directory, [controllerManager]);
  const places = await placesFor(options);
  const path = join(places.recipe.directory, controllerManager);
  if (existsSync(path)) return path;
  await using _lock = await lockCache(places);
  if (existsSync(path)) return path;
  await requireGo(
    places.environment,
    'start without garbage collection (metal-controlplane up --no-controller-manager)',
  );
  await buildPrograms(places.recipe, [controllerManager], places);
  return path;
}

const placesFor = ({
  environment = process.env,
  signal,
  log = () => undefined,
  pins,
}: BinariesOptions): Promise<Places> => placesOf({ environment, signal, log }, pins);

/** Those of the exact versions first. */
async function cached({ recipe, archive, environment }: Places): Promise<Binaries | undefined> {
  const { directory, kubernetes } = recipe;
  if (missingIn(directory, ['etcd', 'kube-apiserver']).length === 0) {
    const kubectl = kubectlIn(directory) ?? (await kubectlInPath(environment, kubernetes));
    if (kubectl !== undefined) return binariesIn(directory, kubectl);
  }
  const isComplete = archive !== undefined && missingIn(archive.directory, archived).length === 0;
  return isComplete ? binariesIn(archive.directory) : undefined;
}

async function fromAssets(directory: string, environment: NodeJS.ProcessEnv): Promise<Binaries> {
  const missing: string[] = missingIn(directory, ['etcd', 'kube-apiserver']);
  const kubectl = kubectlIn(directory) ?? (missing.length > 0 ? undefined : await kubectlFor(directory, environment));
  if (kubectl === undefined) missing.push('kubectl');
  if (missing.length > 0) throw assetsIncomplete(directory, missing);
  return { ...binariesIn(directory, kubectl), given: true };
}

async function kubectlFor(directory: string, environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  const version = await outputOf(join(directory, 'kube-apiserver'), ['--version'], environment);
  if (version === undefined)
    throw assetsIncomplete(directory, ['a kube-apiserver that reports its version within 5 s']);
  return kubectlInPath(environment, version.trim().replace('Kubernetes ', ''));
}

const assetsIncomplete = (directory: string, missing: readonly string[]): ControlPlaneError =>
  new ControlPlaneError(
    'AssetsIncomplete',
    `KUBEBUILDER_ASSETS=${directory} lacks ${missing.join(', ')}; set it to a directory with etcd, kube-apiserver, kubectl and, for garbage collection, kube-controller-manager, or unset it to download or build them`,
  );

const missingIn = <Name extends ProgramName>(directory: string, names: readonly Name[]): Name[] =>
  names.filter((name) => !existsSync(join(directory, name)));

const kubectlIn = (directory: string): string | undefined =>
  existsSync(join(directory, 'kubectl')) ? join(directory, 'kubectl') : undefined;

const binariesIn = (directory: string, kubectl = join(directory, 'kubectl')): Binaries => ({
  directory,
  etcd: join(directory, 'etcd'),
  apiServer: join(directory, 'kube-apiserver'),
  kubectl,
  given: false,
});
