import { mkdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { Child } from '@metal/process/child.ts';
import { ControlPlaneError, startFailed } from './errors.ts';

export interface Etcd {
  readonly child: Child;
  /** For --etcd-servers of a program with the same working directory. */
  readonly url: string;
}

// etcd requires host:port even for sockets, and names the file like this in its working directory.
export const etcdAddress = 'etcd:1';
const readyWithinMs = 60_000;
/** The shortest limit for the path of a Unix socket among the supported systems. */
const longestSocketPath = 103;

/** etcd on a Unix socket in its own directory: no port conflict, and no access for other users. */
export async function startEtcd({
  binaries,
  directory,
  durable,
  signal,
}: {
  binaries: Binaries;
  directory: string;
  /** Data survives the process and a power loss. Otherwise the directory is removed with the process. */
  durable: boolean;
  signal?: AbortSignal | undefined;
}): Promise<Etcd> {
  const socket = socketIn(directory);
  await mkdir(join(directory, 'etcd'), { recursive: true, mode: 0o700 });
  const child = new Child({
    name: 'etcd',
    command: binaries.etcd,
    directory,
    logFile: join(directory, 'etcd.log'),
    failure: startFailed,
    leftovers: durable ? undefined : directory,
    args: [
      `--data-dir=${join(directory, 'etcd')}`,
      `--listen-client-urls=unix://${etcdAddress}`,
      `--advertise-client-urls=unix://${etcdAddress}`,
      '--listen-peer-urls=unix://peer:1',
      '--log-level=warn',
      '--quota-backend-bytes=4294967296',
      // A single member need not wait before it elects itself; the default is up to a second.
      '--heartbeat-interval=20',
      '--election-timeout=100',
      ...(durable ? ['--auto-compaction-retention=1h'] : ['--unsafe-no-fsync']),
    ],
  });
  await child
    .until(() => isHealthy(socket), readyWithinMs, signal)
    .catch(async (error: unknown) => {
      await child.kill();
      throw error;
    });
  return { child, url: `unix://${etcdAddress}` };
}

function socketIn(directory: string): string {
  const socket = join(directory, etcdAddress);
  if (Buffer.byteLength(socket) <= longestSocketPath) return socket;
  throw new ControlPlaneError(
    'StartFailed',
    `the path ${socket} is longer than the limit of ${longestSocketPath} bytes for a Unix socket; use a data directory with a shorter path`,
  );
}

function isHealthy(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const clientRequest = request({ socketPath, path: '/health', timeout: 1_000, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    clientRequest.once('error', () => resolve(false));
    clientRequest.once('timeout', () => clientRequest.destroy());
    clientRequest.end();
  });
}
