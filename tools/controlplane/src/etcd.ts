import { mkdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { Child } from '@metal/process/child.ts';
import { ControlPlaneError, startFailed } from './errors.ts';

export interface Etcd {
  readonly child: Child;
  /** For --etcd-servers of a program that runs in the same directory. */
  readonly url: string;
}

// etcd insists on host:port even for sockets, and names the file so, in the directory it runs in.
const address = 'etcd:1';
const readyWithinMs = 60_000;
/** The shortest limit for the path of a Unix socket among the systems we run on. */
const longestSocketPath = 103;

/** etcd on a Unix socket in its own directory: no port to collide on, and nobody else on the machine can reach it. */
export async function startEtcd({
  binaries,
  directory,
  durable,
  signal,
}: {
  binaries: Binaries;
  directory: string;
  /** Data outlives the process, and a power loss. Otherwise the directory goes with the process. */
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
      `--listen-client-urls=unix://${address}`,
      `--advertise-client-urls=unix://${address}`,
      '--listen-peer-urls=unix://peer:1',
      '--log-level=warn',
      '--quota-backend-bytes=4294967296',
      // Alone, it need not wait for others before it elects itself; by default that takes up to a second.
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
  return { child, url: `unix://${address}` };
}

function socketIn(directory: string): string {
  const socket = join(directory, address);
  if (Buffer.byteLength(socket) <= longestSocketPath) return socket;
  throw new ControlPlaneError(
    'StartFailed',
    `the path ${socket} is longer than the ${longestSocketPath} bytes a Unix socket may have; use a data directory with a shorter path`,
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
