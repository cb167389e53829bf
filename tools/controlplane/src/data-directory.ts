import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ControlPlaneError } from './errors.ts';
import { tryFileLock } from './file-lock.ts';
import { freePort, isFree } from './free-port.ts';

/** The files of one control plane. */
export interface DataDirectory extends AsyncDisposable {
  readonly path: string;
  /** Data outlives the process. */
  readonly durable: boolean;
  /** A port to try. A persistent control plane returns its previous port, so that its kubeconfigs stay valid. */
  port(): Promise<number>;
  savePort(port: number): Promise<void>;
}

/**
 * The given directory, locked for this process, or a temporary one that is removed when disposed.
 * @throws ControlPlaneError DataDirectoryInUse.
 */
export function openDataDirectory(path: string | undefined): Promise<DataDirectory> {
  return path === undefined ? temporary() : persistent(resolve(path));
}

async function temporary(): Promise<DataDirectory> {
  const path = await mkdtemp(join(tmpdir(), 'metal-control-plane-'));
  return {
    path,
    durable: false,
    port: freePort,
    savePort: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 3 }),
  };
}

async function persistent(path: string): Promise<DataDirectory> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const lock = await tryFileLock(join(path, 'lock'));
  if (lock === undefined) {
    throw new ControlPlaneError(
      'DataDirectoryInUse',
      `another control plane runs on ${path}; use it with ${join(path, 'kubeconfig')}, stop it, or choose another directory`,
    );
  }
  await Promise.all(logs.map((name) => rm(join(path, name), { force: true })));
  const portFile = join(path, 'port');
  return {
    path,
    durable: true,
    async port() {
      const last = Number(await readFile(portFile, 'utf8').catch(() => '0'));
      return last > 0 && (await isFree(last)) ? last : freePort();
    },
    savePort: (port) => writeFile(portFile, String(port)),
    [Symbol.asyncDispose]: () => lock[Symbol.asyncDispose](),
  };
}

/** Truncated at each start, to limit their size. */
const logs = ['etcd.log', 'kube-apiserver.log', 'kube-controller-manager.log'];
