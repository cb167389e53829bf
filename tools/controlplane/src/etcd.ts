import { mkdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { Child } from './child.ts';

export interface Etcd {
  readonly child: Child;
  /** For --etcd-servers. */
  readonly url: string;
}

/** etcd on a Unix socket in its own directory: no port to collide on, and nobody else on the machine can reach it. */
export async function startEtcd({
  binaries,
  directory,
  durable,
}: {
  binaries: Binaries;
  directory: string;
  durable: boolean;
}): Promise<Etcd> {
  await mkdir(join(directory, 'etcd'), { recursive: true, mode: 0o700 });
  // etcd insists on host:port even for sockets, and names the file so, in the directory it runs in.
  const url = 'unix://etcd:1';
  const socket = join(directory, 'etcd:1');
  const child = new Child({
    name: 'etcd',
    command: binaries.etcd,
    directory,
    logFile: join(directory, 'etcd.log'),
    args: [
      `--data-dir=${join(directory, 'etcd')}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      '--listen-peer-urls=unix://peer:1',
      '--log-level=warn',
      '--quota-backend-bytes=4294967296',
      ...(durable ? ['--auto-compaction-retention=1h'] : ['--unsafe-no-fsync']),
    ],
  });
  await child
    .until(() => isHealthy(socket), 20_000)
    .catch(async (error: unknown) => {
      await child.stop();
      throw error;
    });
  return { child, url };
}

function isHealthy(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const call = request({ socketPath, path: '/health', timeout: 1_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    call.once('error', () => resolve(false));
    call.once('timeout', () => call.destroy());
    call.end();
  });
}
