import { freePort } from '@metal/controlplane/free-port.ts';
import type { OperatorProcess } from '@metal/project/operator-process.ts';
import type { Testenv } from './testenv.ts';
import type { Backend } from './machine-service.ts';

export interface ProcessOnFreePorts {
  readonly process: OperatorProcess;
  /** Where it listens itself, whatever address machines are told. */
  readonly backend: Backend;
}

/**
 * An operator process of the lab that listens on ports of its own, beside others. Somebody else may bind a port between the
 * moment in which it was free and ours: then others are tried.
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
