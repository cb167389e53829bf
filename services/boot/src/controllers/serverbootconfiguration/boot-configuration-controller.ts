import type { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { isInternalBoot } from '@metal/api/wire/internal-boot.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { KubeError } from '@metal/kube/errors.ts';
import type { EventRecorder } from '@metal/kube/client/events.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import { WorkQueue } from '@metal/kube/controller/work-queue.ts';
import { isSameJson } from '@metal/kube/controller/status-diff.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { Logger } from 'pino';
import { refersTo } from '../../authorization/boot-decision.ts';
import type { BootErrorCode } from '../../errors.ts';
import type { Butane } from '../../ignition/butane.ts';
import type { DiskImages } from '../../images/disk/disk-images.ts';
import type { BootImages } from '../../images/images.ts';
import type { BootConfigs } from './boot-configs.ts';
import { BootValidator } from './boot-validator.ts';
import { ValidationReporter } from './validation-reporter.ts';
import { isBeingPulled, isSameGeneration } from './validation-result.ts';

export interface BootConfigurationControllerOptions {
  client: KubeClient;
  servers: Cache<Server>;
  bootConfigurations: Cache<ServerBootConfiguration>;
  images: BootImages;
  diskImages: DiskImages | undefined;
  butane: Butane;
  ipxeBootConfigs: Cache<IPXEBootConfig>;
  bootConfigs: BootConfigs;
  events: EventRecorder;
  clock: Clock;
  log: Logger;
  random?: (() => number) | undefined;
}

const maxConcurrent = 32;
/** A Secret is often created right after the object that refers to it, so a missing one is no Error for this long. */
const gracePeriodMs = 5_000;
const secretRetryMs = 50;
const missingSecret: ReadonlySet<BootErrorCode> = new Set(['IgnitionMissing', 'ScriptMissing', 'ConfigDriveMissing']);

/**
 * Reconciles boot configurations: `status.state` becomes Ready, or Error with a condition that explains it. Failed ones are
 * validated again with exponential backoff.
 */
export class BootConfigurationController implements AsyncDisposable {
  readonly #options: BootConfigurationControllerOptions;
  readonly #queue: WorkQueue;
  readonly #validator: BootValidator;
  readonly #reporter: ValidationReporter;
  readonly #subscriptions = new DisposableStack();
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<void>>();
  /** By UID: when a Secret of the boot configuration was first missing. */
  readonly #missedSince = new Map<string, number>();

  constructor(options: BootConfigurationControllerOptions) {
    const { clock, random } = options;
    this.#options = options;
    this.#queue = new WorkQueue({ clock, ...(random && { random }) });
    this.#queue.onReady = () => this.#work();
    const { signal } = this.#stop;
    const onPulled = (boot: ServerBootConfiguration): void => {
      if (!signal.aborted) this.#queue.add(keyOf(boot));
    };
    this.#validator = new BootValidator({ ...options, signal, onPulled });
    this.#reporter = new ValidationReporter(options);
    this.#subscribe();
    this.#queue.enqueueInitialList([...options.bootConfigurations.all()].map(keyOf));
  }

  #subscribe(): void {
    const { servers, bootConfigurations, ipxeBootConfigs } = this.#options;
    this.#subscriptions.use(servers.onChange(({ before, after }) => this.#onServerChange(before, after)));
    this.#subscriptions.use(
      ipxeBootConfigs.onChange(({ key, before, after }) => {
        const isOther = before?.metadata.generation !== after?.metadata.generation;
        if (isOther && bootConfigurations.get(key) !== undefined) this.#enqueue(key);
      }),
    );
    this.#subscriptions.use(
      bootConfigurations.onChange(({ key, before, after }) => {
        if (after === undefined) {
          this.#queue.remove(key);
          this.#missedSince.delete(before?.metadata.uid ?? '');
        }
        if (after !== undefined && (before === undefined || needsReconcile(before, after))) this.#enqueue(key);
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscriptions[Symbol.dispose]();
    this.#queue.close();
    this.#stop.abort(new Error('the boot service stops'));
    await Promise.allSettled(this.#running);
  }

  #onServerChange(before: Server | undefined, after: Server | undefined): void {
    if (after === undefined) return;
    const offersOthers = before === undefined || !isSameJson(before.status?.bootTargets, after.status?.bootTargets);
    for (const boot of this.#options.bootConfigurations.by('server', after.metadata.name)) {
      const isCreated = isBeingCreated(boot, before) && !isBeingCreated(boot, after);
      if (offersOthers || isCreated) this.#enqueue(keyOf(boot));
    }
  }

  #enqueue(key: string): void {
    this.#queue.resetBackoff(key);
    this.#queue.add(key);
  }

  #work(): void {
    while (this.#running.size < maxConcurrent) {
      const key = this.#queue.take();
      if (key === undefined) return;
      const reconcile = this.#reconcile(key).finally(() => {
        this.#running.delete(reconcile);
        this.#queue.done(key);
        this.#work();
      });
      this.#running.add(reconcile);
    }
  }

  async #reconcile(key: string): Promise<void> {
    const boot = this.#options.bootConfigurations.get(key);
    if (boot === undefined || boot.metadata.deletionTimestamp !== undefined) return;
    if (isBeingCreated(boot, this.#options.servers.get(boot.spec.serverRef.name))) return;
    try {
      const result = await this.#validator.validate(boot);
      const isMissing = result.error !== undefined && missingSecret.has(result.error.code);
      const isEarly = isMissing && this.#missedForMs(boot) < gracePeriodMs;
      if (!isEarly) await this.#reporter.report(boot, result);
      if (!isMissing) this.#missedSince.delete(boot.metadata.uid ?? '');
      if (result.state === 'Ready') this.#queue.resetBackoff(key);
      if (result.state === 'Error') this.#queue.addAfterFailure(key, isEarly ? secretRetryMs : 0);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const overtaken = error instanceof KubeError && (error.code === 'Conflict' || error.code === 'NotFound');
      if (!overtaken)
        this.#options.log.warn({ boot: key, err: error }, 'could not prepare a boot configuration; retrying');
      this.#queue.addAfterFailure(key);
    }
  }

  /** By the clock of this process; that of the API server may differ. */
  #missedForMs({ metadata }: ServerBootConfiguration): number {
    const now = this.#options.clock.now();
    const since = this.#missedSince.get(metadata.uid ?? '') ?? now;
    this.#missedSince.set(metadata.uid ?? '', since);
    return now - since;
  }
}

/**
 * A boot configuration of the operator is complete, with its ignition, once the server refers to it; and the boot targets of a
 * new server are written when it leaves Initial.
 */
function isBeingCreated(boot: ServerBootConfiguration, server: Server | undefined): boolean {
  if (server === undefined || !isInternalBoot(boot)) return false;
  return !refersTo(server.spec.bootConfigurationRef, boot) || (server.status?.state ?? 'Initial') === 'Initial';
}

/** Status writes of boot services cause no reconcile; those of others do. */
function needsReconcile(before: ServerBootConfiguration, after: ServerBootConfiguration): boolean {
  if (!isSameGeneration(before, after)) return true;
  const isOurs = after.status?.state === 'Ready' || after.status?.state === 'Error' || isBeingPulled(after);
  return before.status?.state !== after.status?.state && !isOurs;
}
