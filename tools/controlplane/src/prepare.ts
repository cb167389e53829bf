import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fetchArchive, partOf } from './archive.ts';
import { type BuildOptions, buildPrograms, type ProgramName, removePartials } from './build.ts';
import { type Archive, type Pins, pinnedArchive, platform } from './envtest.ts';
import { takeFileLock } from './file-lock.ts';
import { requireGo } from './go.ts';
import { type Recipe, readRecipe } from './recipe.ts';

const remedies =
  'set ENVTEST_DOWNLOAD_URL to a mirror of the envtest archives, or KUBEBUILDER_ASSETS to a directory with etcd, kube-apiserver and kubectl';

/** Where the cache has the programs, or will have them. */
export interface Places extends BuildOptions {
  readonly recipe: Recipe;
  /** Undefined: none is pinned for this platform. */
  readonly archive: Archive | undefined;
}

export async function placesOf(options: BuildOptions, pins: Pins | undefined): Promise<Places> {
  const { environment } = options;
  const [recipe, archive] = await Promise.all([readRecipe(environment), pinnedArchive(environment, pins)]);
  return { ...options, recipe, archive };
}

/**
 * Only the process with the lock changes the cache: one for all versions, because they share archives. What killed processes
 * have left is removed.
 */
export async function lockCache({ recipe, archive, signal, log }: Places): Promise<AsyncDisposable> {
  const folder = dirname(recipe.directory);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const onWait = () => log('another process prepares the control plane; waiting for it');
  const lock = await takeFileLock(join(folder, 'lock'), { signal, onWait });
  for (const place of [recipe, archive]) if (place !== undefined) await removePartials(place.directory);
  return lock;
}

/**
 * Downloads etcd, kube-apiserver and kubectl; if that is not possible, builds the missing programs. Returns the directory.
 * @throws ControlPlaneError GoMissing, with the failure of the download, or BuildFailed; the signal's reason.
 */
export async function downloadOrBuild(places: Places, missing: readonly ProgramName[]): Promise<string> {
  const { archive, recipe, environment, log, signal } = places;
  try {
    if (archive === undefined) throw new Error(`no envtest archive is pinned for ${platform}`);
    await fetchArchive(archive, places);
    return archive.directory;
  } catch (error) {
    signal?.throwIfAborted();
    const failure = `could not download the control plane: ${causeOf(error)}`;
    log(failure);
    await requireGo(environment, `${remedies} (${failure})`);
    await buildPrograms(recipe, missing, places);
    // No download continues it now.
    if (archive !== undefined) await rm(partOf(archive), { force: true });
    return recipe.directory;
  }
}

/** The message; of several failed addresses the first. */
function causeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return causeOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
