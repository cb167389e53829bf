import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isReady, startApiServer } from './api-server.ts';
import { type Binaries, findControllerManager } from './binaries.ts';
import type { Child } from '@metal/process/child.ts';
import { startControllerManager } from './controller-manager.ts';
import type { DataDirectory } from './data-directory.ts';
import { ControlPlaneError } from './errors.ts';
import type { Etcd } from './etcd.ts';
import { kubeconfig, writeUserKubeconfig } from './kubeconfig.ts';
import type { Pki } from './pki.ts';

interface Parts {
  readonly binaries: Binaries;
  readonly data: DataDirectory;
  readonly pki: Pki;
  readonly etcd: Etcd;
  readonly port: number;
  readonly apiServer: Child;
  readonly apiServerFlags: readonly string[];
  readonly log: ((line: string) => void) | undefined;
  /** Stops etcd and releases the directory. */
  readonly stack: AsyncDisposableStack;
}

const rolesWithinMs = 30_000;

export class RunningControlPlane implements ControlPlane {
  readonly url: string;
  readonly caPem: string;
  readonly kubeconfigPath: string;
  readonly binaries: Binaries;
  readonly directory: string;
  readonly ended: Promise<ControlPlaneError>;
  readonly #parts: Parts;
  readonly #resolveEnded: (reason: ControlPlaneError) => void;
  /** Programs that should be running. */
  readonly #wanted = new Set<Child>();
  #apiServer: Child;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.url = `https://127.0.0.1:${parts.port}`;
    this.caPem = parts.pki.authority.certificatePem;
    this.directory = parts.data.path;
    this.kubeconfigPath = join(this.directory, 'kubeconfig');
    this.binaries = parts.binaries;
    const { promise, resolve } = Promise.withResolvers<ControlPlaneError>();
    this.ended = promise;
    this.#resolveEnded = resolve;
    this.#apiServer = parts.apiServer;
    this.#watch('etcd', parts.etcd.child);
    this.#watch('kube-apiserver', parts.apiServer);
    parts.stack.defer(() => this.#end(this.#apiServer));
  }

  async writeKubeconfig(): Promise<void> {
    const { url, caPem } = this;
    const text = kubeconfig({ url, caPem, user: 'admin', client: this.#parts.pki.admin });
    await writeFile(this.kubeconfigPath, text, { mode: 0o600 });
  }

  async rolesReady(): Promise<void> {
    await this.#apiServer.until(() => isReady(this.#parts), rolesWithinMs);
  }

  async kubeconfigFor(user: string, groups: readonly string[] = []): Promise<string> {
    const path = await writeUserKubeconfig(this, this.#parts.pki.authority, user, groups);
    await this.rolesReady();
    return path;
  }

  async stopApiServer(): Promise<void> {
    this.#wanted.delete(this.#apiServer);
    await this.#apiServer.stop();
  }

  async startApiServer(): Promise<void> {
    if (this.#apiServer.running) return;
    const { binaries, pki, etcd, port, apiServerFlags: moreFlags } = this.#parts;
    const place = { binaries, directory: this.directory, pki, etcdUrl: etcd.url };
    this.#apiServer = await startApiServer({ ...place, port, moreFlags });
    this.#watch('kube-apiserver', this.#apiServer);
  }

  async restartApiServer(): Promise<void> {
    await this.stopApiServer();
    await this.startApiServer();
  }

  async startControllerManager(signal?: AbortSignal): Promise<void> {
    const { directory, kubeconfigPath } = this;
    const { binaries, log } = this.#parts;
    const program = await findControllerManager(binaries, { log, signal });
    const child = await startControllerManager({ ...this.#parts, program, directory, kubeconfigPath });
    this.#watch('kube-controller-manager', child);
    this.#parts.stack.defer(() => this.#end(child));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#wanted.clear();
    await this.#parts.stack.disposeAsync();
  }

  /** Kills the program unless data is kept: a graceful stop of the API server takes a second. */
  #end(child: Child): Promise<void> {
    return this.#parts.data.durable ? child.stop() : child.kill();
  }

  #watch(name: string, child: Child): void {
    this.#wanted.add(child);
    void child.exited.then(() => {
      if (!this.#wanted.has(child)) return;
      this.#resolveEnded(
        new ControlPlaneError('ProgramEnded', `${name} ended; the end of its log:\n${child.lastLogLines}`),
      );
    });
  }
}

/** A control plane: etcd, kube-apiserver and optionally kube-controller-manager. */
export interface ControlPlane extends ControlPlaneAccess, AsyncDisposable {
  readonly directory: string;
  /** Resolves with the reason when one of the programs exits unexpectedly. */
  readonly ended: Promise<ControlPlaneError>;
  /**
   * Waits for the default roles, which exist a second or two after the start; administrators need not wait. Aggregated roles
   * (`view`, `edit`, `admin`) stay empty without kube-controller-manager.
   */
  rolesReady(): Promise<void>;
  stopApiServer(): Promise<void>;
  /** On the same port, with the same data. */
  startApiServer(): Promise<void>;
  restartApiServer(): Promise<void>;
  /** Builds it first if the programs lack it. */
  startControllerManager(signal?: AbortSignal): Promise<void>;
}

/** Access to a control plane of this or another process. */
export interface ControlPlaneAccess {
  readonly url: string;
  readonly caPem: string;
  /** Kubeconfig of an administrator. */
  readonly kubeconfigPath: string;
  readonly binaries: Binaries;
  /** Kubeconfig file of any user, for example to test RBAC roles; waits for the default roles. */
  kubeconfigFor(user: string, groups?: readonly string[]): Promise<string>;
}
