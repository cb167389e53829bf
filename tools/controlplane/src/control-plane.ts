import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer } from './api-server.ts';
import { type Binaries, findBinaries } from './binaries.ts';
import { Child } from './child.ts';
import { ControlPlaneError } from './errors.ts';
import { startEtcd } from './etcd.ts';
import { freePort } from './free-port.ts';
import { kubeconfig } from './kubeconfig.ts';
import { type Pki, preparePki } from './pki.ts';

export interface ControlPlaneOptions {
  /** Kept between starts. Without one, a temporary directory that is removed at the end. */
  readonly dataDirectory?: string | undefined;
  readonly assets?: string | undefined;
  /** Garbage collection, namespaces and service accounts; needs kube-controller-manager. */
  readonly controllerManager?: boolean;
  readonly say?: (line: string) => void;
}

/** A control plane of its own: etcd, kube-apiserver and, if asked for, kube-controller-manager. */
export interface ControlPlane extends AsyncDisposable {
  readonly url: string;
  readonly caPem: string;
  /** Kubeconfig of an administrator. */
  readonly kubeconfigPath: string;
  readonly binaries: Binaries;
  readonly directory: string;
  /** Kubeconfig file of any user, e.g. to try RBAC roles. */
  kubeconfigFor(user: string, groups?: readonly string[]): Promise<string>;
  stopApiServer(): Promise<void>;
  /** On the same port, with the same data. */
  startApiServer(): Promise<void>;
  startControllerManager(): Promise<void>;
}

const portAttempts = 5;

/**
 * Starts a control plane and waits until it is ready.
 * @throws ControlPlaneError; nothing is left running then.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binaries = await findBinaries({
    assets: options.assets,
    ...(options.say === undefined ? {} : { say: options.say }),
  });
  const stack = new AsyncDisposableStack();
  try {
    const directory = await prepareDirectory(options.dataDirectory, stack);
    const pki = await preparePki(directory);
    const etcd = await startEtcd({ binaries, directory, durable: options.dataDirectory !== undefined });
    stack.defer(() => etcd.child.stop());
    const { child, port } = await onFreePort((candidate) =>
      startApiServer({ binaries, directory, pki, etcdUrl: etcd.url, etcdPrefix: '/registry', port: candidate }),
    );
    const plane = new RunningControlPlane({
      binaries,
      directory,
      pki,
      etcdUrl: etcd.url,
      port,
      apiServer: child,
      stack,
    });
    await plane.writeKubeconfig();
    if (options.controllerManager === true) await plane.startControllerManager();
    return plane;
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function prepareDirectory(dataDirectory: string | undefined, stack: AsyncDisposableStack): Promise<string> {
  if (dataDirectory !== undefined) {
    await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
    return dataDirectory;
  }
  const directory = await mkdtemp(join(tmpdir(), 'metal-control-plane-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Somebody else may take a free port between looking and binding; then another one is tried. */
async function onFreePort(start: (port: number) => Promise<Child>): Promise<{ child: Child; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    try {
      return { child: await start(port), port };
    } catch (error) {
      const taken = error instanceof ControlPlaneError && /address already in use/.test(error.message);
      if (!taken || attempt === portAttempts) throw error;
    }
  }
}

interface Parts {
  readonly binaries: Binaries;
  readonly directory: string;
  readonly pki: Pki;
  readonly etcdUrl: string;
  readonly port: number;
  readonly apiServer: Child;
  readonly stack: AsyncDisposableStack;
}

class RunningControlPlane implements ControlPlane {
  readonly #parts: Parts;
  #apiServer: Child;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#apiServer = parts.apiServer;
    parts.stack.defer(() => this.#apiServer.stop());
  }

  get url(): string {
    return `https://127.0.0.1:${this.#parts.port}`;
  }

  get caPem(): string {
    return this.#parts.pki.authority.certificatePem;
  }

  get binaries(): Binaries {
    return this.#parts.binaries;
  }

  get directory(): string {
    return this.#parts.directory;
  }

  get kubeconfigPath(): string {
    return join(this.#parts.directory, 'kubeconfig');
  }

  async writeKubeconfig(): Promise<void> {
    const text = kubeconfig({ url: this.url, caPem: this.caPem, user: 'admin', client: this.#parts.pki.admin });
    await writeFile(this.kubeconfigPath, text, { mode: 0o600 });
  }

  async kubeconfigFor(user: string, groups: readonly string[] = []): Promise<string> {
    const client = await this.#parts.pki.authority.issue({ commonName: user, organizations: groups });
    const path = join(this.#parts.directory, `kubeconfig-${user.replaceAll(/[^a-z0-9-]/gi, '-')}`);
    await writeFile(path, kubeconfig({ url: this.url, caPem: this.caPem, user, client }), { mode: 0o600 });
    return path;
  }

  async stopApiServer(): Promise<void> {
    await this.#apiServer.stop();
  }

  async startApiServer(): Promise<void> {
    const { binaries, directory, pki, etcdUrl, port } = this.#parts;
    this.#apiServer = await startApiServer({ binaries, directory, pki, etcdUrl, etcdPrefix: '/registry', port });
  }

  async startControllerManager(): Promise<void> {
    const { binaries, directory, pki, stack } = this.#parts;
    if (binaries.controllerManager === undefined) {
      throw new ControlPlaneError(
        'AssetsIncomplete',
        `${binaries.directory} has no kube-controller-manager; garbage collection needs it. Unset KUBEBUILDER_ASSETS to build it with Go`,
      );
    }
    const child = new Child({
      name: 'kube-controller-manager',
      command: binaries.controllerManager,
      directory,
      logFile: join(directory, 'kube-controller-manager.log'),
      args: [
        `--kubeconfig=${this.kubeconfigPath}`,
        '--controllers=garbage-collector-controller,namespace-controller,serviceaccount-controller,serviceaccount-token-controller',
        '--leader-elect=false',
        '--secure-port=0',
        `--service-account-private-key-file=${pki.path('service-account.key')}`,
        `--root-ca-file=${pki.path('ca.crt')}`,
      ],
    });
    stack.defer(() => child.stop());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.stack.disposeAsync();
  }
}
