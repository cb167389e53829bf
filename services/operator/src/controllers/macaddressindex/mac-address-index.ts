import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { MACAddressIndex } from '@metal/api/v1alpha1/mac-address-index.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { isConflict } from '@metal/kube/errors.ts';
import { WorkQueue } from '@metal/kube/controller/work-queue.ts';
import type { Logger } from 'pino';
import type { OperatorCaches } from '../../caches.ts';
import { type IndexChange, planIndexes } from './mac-address-plan.ts';
import { hasBmcIn, holderOf, macIdentityOf } from '@metal/api/mac-address.ts';

interface MacAddressIndexOptions {
  readonly client: KubeClient;
  readonly caches: Pick<OperatorCaches, 'endpoints' | 'bmcs' | 'macAddressIndexes'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Minimum interval between two writes of new addresses, however many Endpoints appear at once. */
const debounceMs = seconds(1);

/** Number of corrections without a pause. Further ones, as when a whole fleet is deleted, are written once per interval. */
const correctionBurst = 4;

/** The single key of the work queue: all indexes are compared together. */
const everything = 'everything';

/**
 * Maintains the indexes by which the API server rejects a second Endpoint with the same MAC address:
 *
 *   Endpoints, BMCs ─► which Endpoint has which MAC address ─► compared with the indexes ─► the differences are written
 *
 * No state is kept between two comparisons, so that a new leader continues where the last one stopped. The first new address is
 * written at once, further ones of the same second together. A wrong entry is corrected at once, a few times in a row, and then once
 * per second. Only the rejection depends on the indexes: duplicates that pass it are reported by the Endpoint controller.
 */
export class MacAddressIndexController {
  readonly #options: MacAddressIndexOptions;
  readonly #hasBmc: (endpoint: Endpoint) => boolean;
  #wroteAt = -Infinity;
  /** Until when the budget of corrections is used up. */
  #correctionsSpentUntil = -Infinity;

  constructor(options: MacAddressIndexOptions) {
    this.#options = options;
    this.#hasBmc = hasBmcIn(options.caches.bmcs);
  }

  /** Runs in the leader, until disposed. A write in flight is aborted then. */
  start(): Disposable {
    const { caches, clock } = this.#options;
    const { endpoints, bmcs, macAddressIndexes } = caches;
    const stop = new AbortController();
    const queue = new WorkQueue({ clock });
    queue.onReady = () => void this.#reconcile(queue, stop.signal);
    const subscriptions = [
      endpoints.onChange(({ before, after }) => {
        this.#enqueueIfChanged(before, queue);
        this.#enqueueIfChanged(after, queue);
      }),
      // Of duplicates the one with a BMC comes first.
      bmcs.onChange(({ before, after }) => {
        if (endpointOf(before) === endpointOf(after)) return;
        for (const name of [endpointOf(before), endpointOf(after)]) this.#enqueueIfChanged(endpoints.get(name), queue);
      }),
      macAddressIndexes.onChange(() => queue.addAfter(everything, debounceMs)),
    ];
    queue.add(everything);
    return {
      [Symbol.dispose]: () => {
        subscriptions.forEach((subscription) => subscription[Symbol.dispose]());
        queue.close();
        stop.abort(new Error('another process leads'));
      },
    };
  }

  #enqueueIfChanged(endpoint: Endpoint | undefined, queue: WorkQueue): void {
    const { endpoints, macAddressIndexes } = this.#options.caches;
    const macAddress = macIdentityOf(endpoint?.spec?.macAddress);
    if (macAddress === undefined) return;
    const holder = holderOf(endpoints.by('mac', macAddress), this.#hasBmc)?.metadata.name;
    const written = [...macAddressIndexes.all()].flatMap(({ spec }) => spec.endpoints[macAddress] ?? []);
    const now = this.#options.clock.now();
    if (written.some((name) => name !== holder))
      queue.addAfter(everything, this.#correctionsSpentUntil - (correctionBurst - 1) * debounceMs - now);
    else if (written.length === 0 && holder !== undefined) queue.addAfter(everything, this.#wroteAt + debounceMs - now);
  }

  /** A failure is only logged: there is no object for an event or a condition. */
  async #reconcile(queue: WorkQueue, signal: AbortSignal): Promise<void> {
    const key = queue.take();
    if (key === undefined) return;
    try {
      const changes = this.#plan();
      if (changes.some(isCorrection)) this.#spendOnCorrection();
      for (const change of changes) {
        this.#wroteAt = this.#options.clock.now();
        await this.#write(change, signal);
      }
      queue.resetBackoff(key);
    } catch (error) {
      if (!signal.aborted) this.#failed(error, queue.addAfterFailure(key));
    }
    queue.done(key);
  }

  #spendOnCorrection(): void {
    this.#correctionsSpentUntil = Math.max(this.#correctionsSpentUntil, this.#options.clock.now()) + debounceMs;
  }

  #failed(err: unknown, nextInMs: number): void {
    const { log } = this.#options;
    if (isConflict(err)) log.debug({ err, nextInMs }, 'conflict on the MAC address index; retrying');
    else log.warn({ err, nextInMs }, 'the MAC address index could not be written; the API server uses the old one');
  }

  #plan(): readonly IndexChange[] {
    const { endpoints, macAddressIndexes } = this.#options.caches;
    const wanted = new Map<string, string>();
    for (const { spec } of endpoints.all()) {
      const macAddress = macIdentityOf(spec?.macAddress);
      if (macAddress === undefined || wanted.has(macAddress)) continue;
      const holder = holderOf(endpoints.by('mac', macAddress), this.#hasBmc);
      if (holder !== undefined) wanted.set(macAddress, holder.metadata.name);
    }
    return planIndexes(wanted, [...macAddressIndexes.all()]);
  }

  async #write({ name, index, entries }: IndexChange, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    if (index === undefined) {
      const endpoints = entries as Record<string, string>; // a new index has no entries to remove
      await client.create(MACAddressIndex, { metadata: { name }, spec: { endpoints } }, { signal });
    } else {
      const { resourceVersion } = index.metadata;
      await client.mergePatch(MACAddressIndex, { name }, { spec: { endpoints: entries } }, { resourceVersion, signal });
    }
  }
}

const endpointOf = (bmc: BMC | undefined): string => bmc?.spec?.endpointRef?.name ?? '';

/** Changes or removes existing entries. */
const isCorrection = ({ index, entries }: IndexChange): boolean =>
  Object.keys(entries).some((macAddress) => index?.spec.endpoints[macAddress] !== undefined);
