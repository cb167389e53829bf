import { freePort } from '@metal/controlplane/free-port.ts';
import type { OperatorProcess } from '@metal/project/operator-process.ts';
import type { Testenv } from '../testenv.ts';
import type { Backend } from './machine-service.ts';

export interface ProcessOnFreePorts {
  readonly process: OperatorProcess;
  /** Addresses on which the process itself listens, whatever addresses machines get. */
  readonly backend: Backend;
}

/**
 * An operator process that listens on free ports, beside others. Another process may bind a port between its choice and
 * its use: then other ports are tried.
 */
export async function startOnFreePorts(
  testenv: Testenv,
  flags: readonly string[] = [],
  onLine?: (line: string) => void,
  attempts = 3,
): Promise<ProcessOnFreePorts> {
  const [boot, registry] = [await freePort(), await freePort()];
  const ports = [`--boot-port=${boot}`, `--registry-port=${registry}`];
  const backend = { boot: `http://127.0.0.1:${boot}`, registry: `http://127.0.0.1:${registry}` };
  try {
    return { process: await testenv.startOperatorProcess([...ports, ...flags], onLine), backend };
  } catch (error) {
    const isTaken = error instanceof Error && error.message.includes('EADDRINUSE');
    if (!isTaken || attempts === 1) throw error;
    return startOnFreePorts(testenv, flags, onLine, attempts - 1);
  }
}
