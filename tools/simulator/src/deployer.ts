import { type DeploymentOrder, deploymentReport } from '@metal/api/wire/deployment.ts';
import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import type { DeploymentMachine } from '@metal/probe/deploy/machine.ts';
import { runDeployment } from '@metal/probe/deploy/run-deployment.ts';
import type { Clock } from './clock.ts';
import type { SimulatedDisks } from './simulated-disks.ts';

export interface DeployerEnvironment {
  readonly ignitionUrl: string;
  readonly registryUrl: string;
  readonly token: string | undefined;
  readonly systemUUID: string;
  readonly storage: ProbeReport['storage'];
  readonly disks: SimulatedDisks;
  /** The image is on the disk. */
  readonly deployed: (disk: string) => void;
  readonly clock: Clock;
  readonly fetch: typeof globalThis.fetch;
  readonly fetchRegistry: typeof globalThis.fetch;
  readonly random: () => number;
  readonly log: (line: string) => void;
}

/** The agent itself, on simulated disks. */
export async function deployImage(
  order: DeploymentOrder,
  env: DeployerEnvironment,
  signal: AbortSignal,
): Promise<void> {
  const { storage, disks, log, deployed } = env;
  const machine: DeploymentMachine = {
    disks: async () => storage,
    usesOf: async () => [],
    open: async ({ name }) => disks.open(name),
    efi: { names: async () => [], read: async () => Buffer.of(), write: async () => undefined },
  };
  const print = (_fields: object, message: string): void => log(`deployer: ${message}`);
  // The registry may switch the machine off before the response arrives.
  const fetchRegistry: typeof globalThis.fetch = (input, init) => {
    const { state, diskName } = deploymentReport.parse(JSON.parse(typeof init?.body === 'string' ? init.body : ''));
    if (state === 'Succeeded') deployed(diskName);
    return env.fetchRegistry(input, init);
  };
  try {
    await runDeployment({ ...env, fetchRegistry, order, machine, signal, log: { info: print, warn: print } });
  } catch (error) {
    signal.throwIfAborted();
    log(`deployer: ${error instanceof Error ? error.message : String(error)}`);
  }
}
