import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import type { Clock } from '@metal/kube/clock.ts';
import type { Logger } from 'pino';
import type { LeaseEvent } from './lease-events.ts';
import { digitsOf } from './mac-address.ts';
import type { MachineCaches } from './machines.ts';

export interface LeaseEndpointsOptions {
  readonly client: KubeClient;
  readonly caches: Pick<MachineCaches, 'endpoints' | 'bmcs'>;
  readonly isManagementAddress: (ip: string) => boolean;
  /** Does the MAC prefix database know it? */
  readonly isManagementDevice: (mac: string) => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

/**
 * Makes Endpoints of leases on the management network, and follows their addresses. One device at a time, the last
 * address of each; an API server that is away is asked again. Nothing is ever deleted: a lease that ends says nothing of
 * the device.
 */
export class LeaseEndpoints implements Disposable {
  readonly #options: LeaseEndpointsOptions;
  readonly #waiting = new Map<string, string>();
  readonly #stop = new AbortController();
  #working = false;
  #endPause: () => void = () => undefined;

  constructor(options: LeaseEndpointsOptions) {
    this.#options = options;
  }

  hear({ event, macAddress, ip }: LeaseEvent): void {
    const { isManagementAddress, isManagementDevice } = this.#options;
    if (event === 'del' || !isManagementAddress(ip) || !isManagementDevice(macAddress)) return;
    this.#waiting.set(macAddress, ip);
    this.#endPause();
    if (!this.#working) void this.#work();
  }

  [Symbol.dispose](): void {
    this.#stop.abort(new Error('stopping'));
    this.#endPause();
  }

  /** In rounds, so that a device that is refused holds up no other. */
  async #work(): Promise<void> {
    const { signal } = this.#stop;
    this.#working = true;
    let pauseMs = firstRetryMs;
    while (this.#waiting.size > 0 && !signal.aborted) {
      const before = this.#waiting.size;
      for (const [mac, ip] of this.#waiting) {
        const isDone = await this.#tryToBring(mac, ip);
        // A newer address may have come in between.
        if (isDone && this.#waiting.get(mac) === ip) this.#waiting.delete(mac);
      }
      if (this.#waiting.size < before) pauseMs = firstRetryMs;
      if (this.#waiting.size === 0 || signal.aborted) break;
      await this.#pause(pauseMs);
      pauseMs = Math.min(2 * pauseMs, longestRetryMs);
    }
    this.#working = false;
  }

  /** Shorter when there is news. */
  async #pause(pauseMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    using _timer = this.#options.clock.setTimeout(pauseMs, resolve);
    this.#endPause = resolve;
    await promise;
  }

  async #tryToBring(mac: string, ip: string): Promise<boolean> {
    const { signal } = this.#stop;
    try {
      if (!signal.aborted) await this.#bring(mac, ip);
      return true;
    } catch (error) {
      if (!signal.aborted)
        this.#options.log.warn(
          { err: error, macAddress: mac, ip },
          'no Endpoint could be made of a lease; trying again',
        );
      return false;
    }
  }

  async #bring(mac: string, ip: string): Promise<void> {
    const { client, caches, log } = this.#options;
    const { signal } = this.#stop;
    const [endpoint] = caches.endpoints.by('macAddress', mac).toSorted((a, b) => ageOf(a).localeCompare(ageOf(b)));
    if (endpoint === undefined) {
      // It has an address of its own already; an Endpoint would make a second BMC of it.
      if (caches.bmcs.by('macAddress', mac).length > 0) return;
      const name = endpointNameOf(mac);
      await client.create(Endpoint, { metadata: { name }, spec: { macAddress: mac, ip } }, { signal, fieldManager });
      log.info({ endpoint: name, macAddress: mac, ip }, 'Endpoint made of a lease');
      return;
    }
    const { name, resourceVersion, deletionTimestamp } = endpoint.metadata;
    if (endpoint.spec?.ip === ip || deletionTimestamp !== undefined) return;
    await client.mergePatch(Endpoint, { name }, { spec: { ip } }, { signal, fieldManager, resourceVersion });
    log.info({ endpoint: name, macAddress: mac, ip, before: endpoint.spec?.ip }, 'Endpoint follows its lease');
  }
}

const fieldManager = 'metal-operator/dhcp';

export const endpointNameOf = (mac: string): string => `mac-${digitsOf(mac)}`;

const ageOf = ({ metadata }: Endpoint): string => `${metadata.creationTimestamp ?? ''} ${metadata.name}`;
