import { startApiServer } from './api-server.ts';
import { type Binaries, findBinaries } from './binaries.ts';
import type { Child } from '@metal/process/child.ts';
import { type DataDirectory, openDataDirectory } from './data-directory.ts';
import { ControlPlaneError } from './errors.ts';
import { type Etcd, startEtcd } from './etcd.ts';
import { type Pki, preparePki } from './pki.ts';
import { RunningControlPlane } from './running-control-plane.ts';

export interface ControlPlaneOptions {
  /** Kept between starts. Without one, a temporary directory that is removed at the end. */
  readonly dataDirectory?: string | undefined;
  /** Directory with ready-made programs; defaults to $KUBEBUILDER_ASSETS, else they are built once with Go. */
  readonly assets?: string | undefined;
  /** Garbage collection, namespaces and service accounts; needs kube-controller-manager. */
  readonly controllerManager?: boolean | undefined;
  /** Of the API server, beside the usual ones; e.g. for an audit log. */
  readonly apiServerFlags?: readonly string[] | undefined;
  /** Ends the start; has no effect on a control plane that is up. */
  readonly signal?: AbortSignal | undefined;
  /** One line of progress for people, when something takes long. */
  readonly log?: ((line: string) => void) | undefined;
}

/** A control plane as its clients see it, whichever process runs it. */
export interface ControlPlaneAccess {
  readonly url: string;
  readonly caPem: string;
  /** Kubeconfig of an administrator. */
  readonly kubeconfigPath: string;
  readonly binaries: Binaries;
  /** Kubeconfig file of any user, e.g. to try RBAC roles; waits for the roles that every cluster has. */
  kubeconfigFor(user: string, groups?: readonly string[]): Promise<string>;
}

/** A control plane of its own: etcd, kube-apiserver and, if asked for, kube-controller-manager. */
export interface ControlPlane extends ControlPlaneAccess, AsyncDisposable {
  readonly directory: string;
  /** Resolves with the reason when one of the programs ends by itself. */
  readonly ended: Promise<ControlPlaneError>;
  /**
   * Waits for the roles that every cluster has, a second or two after the start; administrators need not wait. Roles
   * that are made of others (`view`, `edit`, `admin`) stay empty without kube-controller-manager.
   */
  rolesReady(): Promise<void>;
  stopApiServer(): Promise<void>;
  /** On the same port, with the same data. */
  startApiServer(): Promise<void>;
  restartApiServer(): Promise<void>;
  startControllerManager(): Promise<void>;
}

const portAttempts = 5;

/**
 * Starts a control plane and waits until an administrator can work with it. Its programs end with this process,
 * however this process ends.
 * @throws ControlPlaneError, or the signal's reason; nothing is left running then.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { assets, apiServerFlags = [], signal, log } = options;
  const binaries = await findBinaries({ assets, signal, log });
  await using started = new AsyncDisposableStack();
  const data = started.use(await openDataDirectory(options.dataDirectory));
  const [pki, etcd] = await both(preparePki(data.path), startEtcdIn(data, binaries, started, signal));
  const { apiServer, port } = await startOnFreePort({ data, binaries, pki, etcd, apiServerFlags, signal });
  const parts = { binaries, data, pki, etcd, port, apiServer, apiServerFlags, stack: started.move() };
  const plane = new RunningControlPlane(parts);
  try {
    await plane.writeKubeconfig();
    if (options.controllerManager === true) await plane.startControllerManager();
    return plane;
  } catch (error) {
    await plane[Symbol.asyncDispose]();
    throw error;
  }
}

/** Fails only when both are over, so that nothing starts after the failure was cleaned up. */
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

/** Somebody else may take a free port between looking and binding; then another one is tried. */
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
