import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { entryPoint, environment } from './configuration.ts';
import { user } from './recipe.ts';
import { startBwrap } from './bwrap.ts';
import { startRunc } from './runc.ts';
import type { Mount, Specification } from './specification.ts';

export interface RunOptions {
  /** The unpacked image, which is shown read-only. */
  readonly rootDirectory: string;
  /** Instead of the entry point, like the `command` of a pod. */
  readonly command?: readonly string[];
  /** Appended to the entry point, like the `args` of a pod. */
  readonly args: readonly string[];
  /** In addition to that of the image; nothing else is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  readonly mounts?: readonly Mount[];
  readonly uid?: number;
  readonly gid?: number;
  /** Such as CAP_NET_ADMIN. Default: none. */
  readonly capabilities?: readonly string[];
  /** Path of a network namespace, for runc. Default: that of the host. */
  readonly networkNamespace?: string | undefined;
  /** Receives each line of both outputs. */
  readonly onLine?: (line: string) => void;
  /** Default: runc for root, bwrap for other users. */
  readonly runtime?: 'runc' | 'bwrap';
}

export interface ContainerProcess extends AsyncDisposable {
  /** Its output so far. */
  readonly lines: readonly string[];
  readonly ended: Promise<number>;
  /** Sends SIGTERM, as a kubelet does; resolves with the exit code. */
  stop(): Promise<number>;
  kill(): Promise<number>;
}

/**
 * Starts the entry point of the image as a kubelet does: read-only root, no privileges to gain, its own processes, mounts and IPC.
 * By default it shares the network of the host. Under runc for root and bwrap for other users; `make e2e-deps` installs both.
 */
export async function runContainer(options: RunOptions): Promise<ContainerProcess> {
  const { rootDirectory, args, env = {}, mounts = [], capabilities = [], onLine } = options;
  const directory = await mkdtemp(join(tmpdir(), 'metal-container-run-'));
  const specification: Specification = {
    rootDirectory,
    command: [...(options.command ?? entryPoint), ...args],
    env: { ...environment, ...env },
    mounts,
    uid: options.uid ?? user.uid,
    gid: options.gid ?? user.gid,
    capabilities,
    networkNamespace: options.networkNamespace,
    directory,
  };
  const runtime = options.runtime ?? (process.getuid?.() === 0 ? 'runc' : 'bwrap');
  const { stdout, stderr, ended, signal } = await (runtime === 'runc' ? startRunc : startBwrap)(specification);
  const lines: string[] = [];
  for (const input of [stdout, stderr])
    createInterface({ input }).on('line', (line) => {
      lines.push(line);
      onLine?.(line);
    });
  let isRunning = true;
  const cleaned = ended.finally(() => {
    isRunning = false;
    return rm(directory, { recursive: true, force: true });
  });
  const end = async (name: 'SIGTERM' | 'SIGKILL') => {
    if (isRunning) await signal(name);
    return cleaned;
  };
  return {
    lines,
    ended: cleaned,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    [Symbol.asyncDispose]: async () => void (await end('SIGKILL')),
  };
}
