import { fieldManagerOf } from '@metal/kube/client/field-managers.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { WorkQueue } from '@metal/kube/controller/work-queue.ts';
import type { Logger } from 'pino';
import type { LeaseEvent } from './lease-events.ts';
import { digitsOf } from './mac-address.ts';
import type { MachineCaches } from './machines.ts';

export interface LeaseEndpointsOptions {
  readonly client: KubeClient;
  readonly caches: Pick<MachineCaches, 'endpoints' | 'bmcs'>;
  readonly isManagementAddress: (ip: string) => boolean;
  /** Whether the MAC prefix database contains it. */
  readonly isManagementDevice: (mac: string) => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** After a power failure thousands of devices request addresses at the same time. */
const maxConcurrent = 8;
const minRetryMs = 1_000;

/**
 * Creates Endpoints for leases on the management network, and updates their addresses. For each device the last address is
 * written; failed writes are retried. Endpoints are never deleted: a device may exist without a lease.
 */
export class LeaseEndpoints implements Disposable {
  readonly #options: LeaseEndpointsOptions;
  readonly #queue: WorkQueue;
  /** Addresses that are not written yet, by MAC address. */
  readonly #addresses = new Map<string, string>();
  readonly #stop = new AbortController();
  #working = 0;

  constructor(options: LeaseEndpointsOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({ clock: options.clock });
    this.#queue.onReady = () => this.#work();
  }

  onLeaseEvent({ event, macAddress, ip }: LeaseEvent): void {
    const { isManagementAddress, isManagementDevice } = this.#options;
    if (event === 'del' || !isManagementAddress(ip) || !isManagementDevice(macAddress)) return;
    this.#addresses.set(macAddress, ip);
    this.#queue.add(macAddress);
  }

  [Symbol.dispose](): void {
    this.#queue.close();
    this.#stop.abort(new Error('stopping'));
  }

  #work(): void {
    while (this.#working < maxConcurrent) {
      const mac = this.#queue.take();
      if (mac === undefined) return;
      this.#working += 1;
      void this.#tryEnsureEndpoint(mac).finally(() => {
        this.#working -= 1;
        this.#queue.done(mac);
        this.#work();
      });
    }
  }

  async #tryEnsureEndpoint(mac: string): Promise<void> {
    const ip = this.#addresses.get(mac);
    if (ip === undefined) return;
    try {
      await this.#ensureEndpoint(mac, ip);
      this.#queue.remove(mac);
      // A newer address may have arrived in the meantime.
      if (this.#addresses.get(mac) === ip) this.#addresses.delete(mac);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.#queue.addAfterFailure(mac, minRetryMs);
      this.#options.log.warn({ err: error, macAddress: mac, ip }, 'could not create the Endpoint of a lease; retrying');
    }
  }

  async #ensureEndpoint(mac: string, ip: string): Promise<void> {
    const { client, caches, log } = this.#options;
    const { signal } = this.#stop;
    const [endpoint] = caches.endpoints.by('macAddress', mac).toSorted((a, b) => ageOf(a).localeCompare(ageOf(b)));
    if (endpoint === undefined) {
      // The BMC has an inline address; an Endpoint would create a second BMC object.
      if (caches.bmcs.by('macAddress', mac).length > 0) return;
      const name = endpointNameOf(mac);
      await client.create(Endpoint, { metadata: { name }, spec: { macAddress: mac, ip } }, { signal, fieldManager });
      log.info({ endpoint: name, macAddress: mac, ip }, 'created the Endpoint of a lease');
      return;
    }
    const { name, resourceVersion, deletionTimestamp } = endpoint.metadata;
    if (endpoint.spec?.ip === ip || deletionTimestamp !== undefined) return;
    await client.mergePatch(Endpoint, { name }, { spec: { ip } }, { signal, fieldManager, resourceVersion });
    log.info({ endpoint: name, macAddress: mac, ip, before: endpoint.spec?.ip }, 'Endpoint follows its lease');
  }
}

const fieldManager = fieldManagerOf('dhcp');

export const endpointNameOf = (mac: string): string => `mac-${digitsOf(mac)}`;

const ageOf = ({ metadata }: Endpoint): string => `${metadata.creationTimestamp ?? ''} ${metadata.name}`;
