import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@metal/controlplane/free-port.ts';
import { Child } from '@metal/process/child.ts';
import type { JournalPage } from '@metal/simulator/journal.ts';
import * as z from 'zod';
import { type Counts, countsOf } from './counts.ts';

const program = fileURLToPath(new URL('../../../node_modules/.bin/metal-fleet', import.meta.url));
const upWithinMs = 120_000;

/** Delays of the simulated servers. */
export interface FleetSpeed {
  /** Delay of each response of a BMC. */
  readonly latencyMs: number;
  readonly powerMs: number;
  readonly bootMs: number;
  readonly eraseMs: number;
  /** Duration of the installation of an image. */
  readonly flashMs: number;
}

export interface FleetOptions {
  readonly servers: number;
  readonly speed: FleetSpeed;
  /** The same seed yields the same machines. */
  readonly seed: string;
  readonly directory: string;
  /** Registry for the probe of every network boot. Default: machines fetch their boot script from the boot service. */
  readonly probeRegistryUrl?: string | undefined;
  /** Vendors, separated by commas. Default: those of the simulator in rotation. */
  readonly vendors?: string | undefined;
}

const shapeOfNodes = z.array(
  z.object({
    name: z.string(),
    bmc: z.url(),
    macAddress: z.string(),
    systemUUID: z.string(),
    power: z.string(),
    running: z.string().optional(),
  }),
);
const shapeOfEnd = z.object({ address: z.string(), port: z.number() });
const shapeOfJournal = z.object({
  connections: z.array(z.object({ id: z.number(), node: z.string(), from: shapeOfEnd, to: shapeOfEnd })),
  events: z.array(z.tuple([z.number(), z.number(), z.enum(['arrived', 'answered'])])),
  lost: z.number(),
});
const shapeOfCounts = z.object({ byRoute: z.record(z.string(), z.number()) });

export type FleetNode = z.output<typeof shapeOfNodes>[number];

/** Simulated servers in a separate process, used through their control API. */
export class FleetProcess implements AsyncDisposable {
  readonly macPrefixesPath: string;
  readonly #child: Child;
  readonly #controlUrl: string;

  private constructor(child: Child, controlUrl: string, macPrefixesPath: string) {
    this.#child = child;
    this.#controlUrl = controlUrl;
    this.macPrefixesPath = macPrefixesPath;
  }

  static async start(options: FleetOptions): Promise<FleetProcess> {
    const { directory } = options;
    const [controlPort, macPrefixesPath] = [await freePort(), join(directory, 'mac-prefixes.yaml')];
    const child = new Child({
      name: 'metal-fleet',
      command: program,
      args: [...flagsOf(options), `--control-port=${controlPort}`, `--mac-prefixes=${macPrefixesPath}`],
      directory,
      logFile: join(directory, 'fleet.log'),
    });
    const fleet = new FleetProcess(child, `http://127.0.0.1:${controlPort}`, macPrefixesPath);
    await child
      .until(() => fleet.#isUp(), upWithinMs)
      .catch(async (error: unknown) => {
        await child.kill();
        throw error;
      });
    return fleet;
  }

  async nodes(): Promise<FleetNode[]> {
    return shapeOfNodes.parse(await this.#request('/nodes'));
  }

  /** Requests to all BMCs so far, by method and route. */
  async requests(): Promise<Counts> {
    return countsOf(shapeOfCounts.parse(await this.#request('/counts')).byRoute);
  }

  /** Requests by connection since the last call; the first call starts the recording. */
  async journal(): Promise<JournalPage> {
    return shapeOfJournal.parse(await this.#request('/journal', {}));
  }

  async bootFrom(url: string): Promise<void> {
    await this.#request('/boot-url', { url });
  }

  /** Sets faults in the format of the control API, for example `{"hang": true}`. */
  async injectFaults(name: string, faults: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#request(`/nodes/${name}/faults`, faults);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child.kill();
  }

  async #isUp(): Promise<boolean> {
    return this.#request('/counts').then(
      () => true,
      () => false,
    );
  }

  async #request(path: string, body?: object): Promise<unknown> {
    const signal = AbortSignal.timeout(upWithinMs);
    const init = body === undefined ? { signal } : { method: 'POST', body: JSON.stringify(body), signal };
    const response = await fetch(`${this.#controlUrl}${path}`, init);
    if (response.ok) return response.json();
    throw new Error(`the fleet answers ${response.status} to ${path}: ${await response.text()}`);
  }
}

const flagsOf = ({ servers, seed, speed, probeRegistryUrl, vendors }: FleetOptions): string[] => [
  `--count=${servers}`,
  `--seed=${seed}`,
  '--port=0',
  `--latency=${speed.latencyMs}`,
  `--power-on=${speed.powerMs}`,
  `--power-off=${speed.powerMs}`,
  `--boot=${speed.bootMs}`,
  `--erase=${speed.eraseMs}`,
  `--flash=${speed.flashMs}`,
  ...(vendors === undefined ? [] : [`--vendors=${vendors}`]),
  ...(probeRegistryUrl === undefined ? [] : [`--probe-registry=${probeRegistryUrl}`]),
];

/** Route of power actions. */
export const isPowerAction = (route: string): boolean =>
  route.startsWith('POST ') && route.endsWith('/Actions/ComputerSystem.Reset');
