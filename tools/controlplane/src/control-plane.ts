import { startApiServer } from './api-server.ts';
import { type Binaries, findBinaries } from './binaries.ts';
import type { Child } from '@metal/process/child.ts';
import { type DataDirectory, openDataDirectory } from './data-directory.ts';
import { ControlPlaneError } from './errors.ts';
import { type Etcd, startEtcd } from './etcd.ts';
import { type Pki, preparePki } from './pki.ts';
import { RunningControlPlane, type ControlPlane } from './running-control-plane.ts';

export interface ControlPlaneOptions {
  /** Kept between starts. Default: a temporary directory that is removed at the end. */
  readonly dataDirectory?: string | undefined;
  /** Directory with the programs. Default: $KUBEBUILDER_ASSETS; else they are downloaded or built once. */
  readonly assets?: string | undefined;
  /** Runs kube-controller-manager: garbage collection, namespaces and service accounts. It may have to be built first. */
  readonly controllerManager?: boolean | undefined;
  /** Additional flags of the API server, for example for an audit log. */
  readonly apiServerFlags?: readonly string[] | undefined;
  /** Aborts the start; has no effect on a running control plane. */
  readonly signal?: AbortSignal | undefined;
  /** Receives lines of progress for long operations. */
  readonly log?: ((line: string) => void) | undefined;
}

const portAttempts = 5;

/**
 * Starts a control plane and waits until an administrator can use it. Its programs end with this process, however it ends.
 * @throws ControlPlaneError, or the signal's reason; nothing is left running then.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { assets, apiServerFlags = [], signal, log } = options;
  const binaries = await findBinaries({ assets, signal, log });
  await using started = new AsyncDisposableStack();
  const data = started.use(await openDataDirectory(options.dataDirectory));
  const [pki, etcd] = await both(preparePki(data.path), startEtcdIn(data, binaries, started, signal));
  const { apiServer, port } = await startOnFreePort({ data, binaries, pki, etcd, apiServerFlags, signal });
  const parts = { binaries, data, pki, etcd, port, apiServer, apiServerFlags, log, stack: started.move() };
  const plane = new RunningControlPlane(parts);
  try {
    await plane.writeKubeconfig();
    if (options.controllerManager === true) await plane.startControllerManager(signal);
    return plane;
  } catch (error) {
    await plane[Symbol.asyncDispose]();
    throw error;
  }
}

/** Rejects only when both have settled, so that nothing starts after the cleanup of the failure. */
async function both<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([one, other]);
  return Promise.all([one, other]);
}

async function startEtcdIn(
  data: DataDirectory,
  binaries: Binaries,
  started: AsyncDisposableStack,
  signal: AbortSignal | undefined,
): Promise<Etcd> {
  const etcd = await startEtcd({ binaries, directory: data.path, durable: data.durable, signal });
  started.defer(() => (data.durable ? etcd.child.stop() : etcd.child.kill()));
  return etcd;
}

/** Another process may bind a free port first; then another port is tried. */
async function startOnFreePort({
  data,
  binaries,
  pki,
  etcd,
  apiServerFlags: moreFlags,
  signal,
}: {
  data: DataDirectory;
  binaries: Binaries;
  pki: Pki;
  etcd: Etcd;
  apiServerFlags: readonly string[];
  signal: AbortSignal | undefined;
}): Promise<{ apiServer: Child; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await data.port();
    try {
      const place = { binaries, directory: data.path, pki, etcdUrl: etcd.url };
      const apiServer = await startApiServer({ ...place, port, moreFlags, signal });
      await data.savePort(port);
      return { apiServer, port };
    } catch (error) {
      const taken = error instanceof ControlPlaneError && error.message.includes('address already in use');
      if (!taken || attempt === portAttempts) throw error;
    }
  }
}
