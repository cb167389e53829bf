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

/** New addresses are written at most this often, however many Endpoints appear at once. */
const debounceMs = seconds(1);

/** Corrections in a row that wait for nothing. Who deletes a fleet has it corrected once in the time above. */
const correctionBurst = 4;

/** There is one thing to do, for all indexes together. */
const everything = 'everything';

/**
 * Keeps what the API server refuses a second Endpoint by:
 *
 *   Endpoints, BMCs ─► which Endpoint has which MAC address ─► compared with the indexes ─► what differs is written
 *
 * Nothing is remembered between two comparisons, so a new leader goes on where the one before ended. The first new
 * address is written at once, those that follow within the second together. What refuses wrongly is corrected at once, a
 * few times in a row, and then what comes within a second together.
 * Nothing depends on it but the refusal: twins that get past it are told by the Endpoint controller.
 */
export class MacAddressIndexController {
  readonly #options: MacAddressIndexOptions;
  readonly #hasBmc: (endpoint: Endpoint) => boolean;
  #wroteAt = -Infinity;
  /** Until when corrections have used up what they may write. */
  #correctionsSpentUntil = -Infinity;

  constructor(options: MacAddressIndexOptions) {
    this.#options = options;
    this.#hasBmc = hasBmcIn(options.caches.bmcs);
  }

  /** Until disposed; for the one process that leads. A write that is under way then is given up. */
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
      // Of twins the one with a BMC comes first.
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

  /** Not told as an event or condition: no object is concerned, and the log says why twins were not refused. */
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
    if (isConflict(err)) log.debug({ err, nextInMs }, 'the index of MAC addresses was written by another in between');
    else log.warn({ err, nextInMs }, 'the index of MAC addresses was not written: the API server goes by the old one');
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
      const endpoints = entries as Record<string, string>; // nothing is removed from one that is to be made
      await client.create(MACAddressIndex, { metadata: { name }, spec: { endpoints } }, { signal });
    } else {
      const { resourceVersion } = index.metadata;
      await client.mergePatch(MACAddressIndex, { name }, { spec: { endpoints: entries } }, { resourceVersion, signal });
    }
  }
}

const endpointOf = (bmc: BMC | undefined): string => bmc?.spec?.endpointRef?.name ?? '';

/** Of what is written, not only something new. */
const isCorrection = ({ index, entries }: IndexChange): boolean =>
  Object.keys(entries).some((macAddress) => index?.spec.endpoints[macAddress] !== undefined);
