import type { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { isInternalBoot } from '@metal/api/wire/internal-boot.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { KubeError } from '@metal/kube/errors.ts';
import type { EventRecorder } from '@metal/kube/client/events.ts';
import { type Condition, keyOf } from '@metal/kube/kinds/kind.ts';
import { WorkQueue } from '@metal/kube/controller/work-queue.ts';
import { isSameJson } from '@metal/kube/controller/status-diff.ts';
import type { Logger } from 'pino';
import { architectureOf } from '../../images/architecture.ts';
import type { BootConfigs } from './boot-configs.ts';
import { type BootPlan, wayOf } from '../../images/boot-plan.ts';
import type { Butane } from '../../ignition/butane.ts';
import { givesScript, readCustomScript } from '../../scripts/custom-script.ts';
import { BootError } from '../../errors.ts';
import { refersTo } from '../../authorization/boot-decision.ts';
import { readIgnition } from '../../ignition/ignition.ts';
import { printableImage } from '../../images/image-url.ts';
import { type BootImages, preparedDigestOf } from '../../images/images.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import {
  conditionsOf,
  isBeingPulled,
  isValidated,
  isReported,
  preparedBy,
  validationFailed,
  type ValidationResult,
} from './validation-result.ts';

export interface BootConfigurationControllerOptions {
  client: KubeClient;
  servers: Cache<Server>;
  bootConfigurations: Cache<ServerBootConfiguration>;
  images: BootImages;
  butane: Butane;
  ipxeBootConfigs: Cache<IPXEBootConfig>;
  bootConfigs: BootConfigs;
  events: EventRecorder;
  clock: Clock;
  log: Logger;
  random?: (() => number) | undefined;
}

const maxConcurrent = 32;
/** Secrets are often created right after the object that refers to them; saying Error in between would be noise. */
const gracePeriodMs = 5_000;
const secretRetryMs = 50;
/** A pull may take minutes: it does not hold up the boots whose images are there. */
const pullTimeoutMs = 3_000;
/** Others write the status of a new boot configuration at the same moment. */
const maxConflicts = 5;

/**
 * Watches boot configurations and says of each whether machines can boot it: `status.state` Ready or Error, with a
 * condition that explains. Written once per change of mind; errors are looked at again with growing pauses.
 */
export class BootConfigurationController implements AsyncDisposable {
  readonly #options: BootConfigurationControllerOptions;
  readonly #queue: WorkQueue;
  readonly #subscriptions = new DisposableStack();
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<void>>();
  /** When the ignition of a boot configuration was first found missing, by UID. */
  readonly #missedSince = new Map<string, number>();

  constructor(options: BootConfigurationControllerOptions) {
    const { clock, random, servers, bootConfigurations, ipxeBootConfigs } = options;
    this.#options = options;
    this.#queue = new WorkQueue({ clock, ...(random && { random }) });
    this.#queue.onReady = () => this.#work();
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
    this.#queue.enqueueInitialList([...bootConfigurations.all()].map(keyOf));
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
      const result = await this.#validate(boot);
      const isMissing = result.error?.code === 'IgnitionMissing' || result.error?.code === 'ScriptMissing';
      const isEarly = isMissing && this.#missedForMs(boot) < gracePeriodMs;
      if (!isEarly) await this.#report(boot, result);
      if (!isMissing) this.#missedSince.delete(boot.metadata.uid ?? '');
      if (result.state === 'Ready') this.#queue.resetBackoff(key);
      if (result.state === 'Error') this.#queue.addAfterFailure(key, isEarly ? secretRetryMs : 0);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const overtaken = error instanceof KubeError && (error.code === 'Conflict' || error.code === 'NotFound');
      if (!overtaken)
        this.#options.log.warn({ boot: key, err: error }, 'could not prepare a boot configuration; trying again');
      this.#queue.addAfterFailure(key);
    }
  }

  async #validate(boot: ServerBootConfiguration): Promise<ValidationResult> {
    try {
      const plan = await this.#planInTime(boot);
      if (plan === undefined) return { state: 'Pending' };
      await readIgnition(boot, this.#options, this.#stop.signal);
      return { state: 'Ready', plan: await this.#withScript(boot, plan) };
    } catch (error) {
      if (error instanceof BootError) return { state: 'Error', error };
      throw error;
    }
  }

  /** A script that a person wrote for this boot is one for iPXE, whatever the image has. @throws BootError */
  async #withScript(boot: ServerBootConfiguration, plan: BootPlan): Promise<BootPlan> {
    const { client, ipxeBootConfigs, servers } = this.#options;
    const config = ipxeBootConfigs.get(boot.metadata);
    if (!givesScript(config, boot)) return plan;
    const server = servers.get(boot.spec.serverRef.name);
    await readCustomScript(config, server?.spec.systemUUID, client, this.#stop.signal);
    return { ...plan, method: 'iPXE', methods: ['iPXE'], script: config.spec?.ipxeScriptSecretRef?.name };
  }

  /** Undefined when it takes long; it goes on, and is looked at again when it is done: no news, so failures still count. */
  async #planInTime(boot: ServerBootConfiguration): Promise<BootPlan | undefined> {
    const plan = this.#plan(boot);
    const { promise: timeout, resolve } = Promise.withResolvers<undefined>();
    using _timer = this.#options.clock.setTimeout(pullTimeoutMs, () => {
      resolve(undefined);
      const enqueueAgain = () => !this.#stop.signal.aborted && this.#queue.add(keyOf(boot));
      plan.then(enqueueAgain, enqueueAgain);
    });
    return await Promise.race([plan, timeout]);
  }

  /** What was prepared once is kept: a tag that moves does not change what a machine boots. */
  async #plan(boot: ServerBootConfiguration): Promise<BootPlan> {
    const { images, servers } = this.#options;
    const server = servers.get(boot.spec.serverRef.name);
    const architecture = architectureOf(server);
    const way = wayOf(boot, server);
    const digest = preparedDigestOf(boot);
    try {
      return await images.check(boot.spec.image, this.#stop.signal, { architecture, digest }, way);
    } catch (error) {
      const isGone = error instanceof BootError && error.code === 'ImageMissing' && digest !== undefined;
      if (!isGone) throw error;
      return images.check(boot.spec.image, this.#stop.signal, { architecture }, way);
    }
  }

  async #report(boot: ServerBootConfiguration, result: ValidationResult): Promise<void> {
    // A file that takes long to fail, time after time, would take back the reason time after time.
    if (result.state === 'Pending' && isValidated(boot)) return;
    const { clock, servers, bootConfigs } = this.#options;
    const conditions = conditionsOf(boot, result, clock.now());
    await this.#writeResult(boot, result, conditions);
    await bootConfigs.publishStatus(boot, servers.get(boot.spec.serverRef.name), { ...result, conditions });
  }

  async #writeResult(boot: ServerBootConfiguration, result: ValidationResult, conditions: Condition[]): Promise<void> {
    const { log, events } = this.#options;
    const status = { state: result.state, conditions, ...(result.plan && { boot: preparedBy(result.plan) }) };
    if (isReported(boot, status)) return;
    await this.#write(boot, status);
    const fields = {
      boot: keyOf(boot),
      server: boot.spec.serverRef.name,
      image: printableImage(boot.spec.image ?? ''),
      state: result.state,
    };
    if (result.error === undefined) {
      const choice = { ...status.boot, rejectedMethods: result.plan?.rejectedMethods };
      log.info({ ...fields, ...choice }, result.plan ? 'boot configuration is ready' : 'pulling an image');
      return;
    }
    const { code, message, cause } = result.error;
    // What the condition does not tell those who claim.
    const detail = cause instanceof BootError ? { detail: cause.message } : {};
    log.warn({ ...fields, code, reason: message, ...detail }, 'boot configuration cannot be booted');
    events.record(boot, { type: 'Warning', reason: validationFailed, action: 'Prepare', note: message });
  }

  /**
   * Said of the object that was judged and of no other: one that was made anew under the name has the same name and
   * perhaps another image. The API server compares no UIDs in a write of status, so the version is the guard.
   */
  async #write(validated: ServerBootConfiguration, status: ServerBootConfiguration['status']): Promise<void> {
    const { client } = this.#options;
    const { name, namespace } = validated.metadata;
    for (let { resourceVersion } = validated.metadata, conflicts = 0; ; conflicts += 1) {
      try {
        await client.apply(
          ServerBootConfiguration,
          { metadata: { name, namespace, resourceVersion }, status },
          // Pending is what others say for want of a boot service; from here on the state is ours.
          { fieldManager: 'metal-operator/boot', subresource: 'status', force: true },
        );
        return;
      } catch (error) {
        const isConflict = error instanceof KubeError && error.code === 'Conflict';
        if (!isConflict || conflicts === maxConflicts) throw error;
        const now = await client.find(ServerBootConfiguration, validated.metadata);
        if (now === undefined || !isSameGeneration(now, validated)) throw error;
        if (status?.state === 'Pending' && isValidated(now)) return;
        ({ resourceVersion } = now.metadata);
      }
    }
  }

  /** By our own watch: the API server's clock may be another one. */
  #missedForMs({ metadata }: ServerBootConfiguration): number {
    const now = this.#options.clock.now();
    const since = this.#missedSince.get(metadata.uid ?? '') ?? now;
    this.#missedSince.set(metadata.uid ?? '', since);
    return now - since;
  }
}

/**
 * What the operator boots itself is complete, with its ignition, when the server refers to it; and what the BMC of a new
 * server can be told is written with the state that follows Initial, in which nothing boots.
 */
function isBeingCreated(boot: ServerBootConfiguration, server: Server | undefined): boolean {
  if (server === undefined || !isInternalBoot(boot)) return false;
  return !refersTo(server.spec.bootConfigurationRef, boot) || (server.status?.state ?? 'Initial') === 'Initial';
}

const isSameGeneration = (
  { metadata: one }: ServerBootConfiguration,
  { metadata: other }: ServerBootConfiguration,
): boolean => one.uid === other.uid && one.generation === other.generation;

/** Writes of status by boot services are no reason to look again; somebody else's state is. */
function needsReconcile(before: ServerBootConfiguration, after: ServerBootConfiguration): boolean {
  if (!isSameGeneration(before, after)) return true;
  const isOurs = after.status?.state === 'Ready' || after.status?.state === 'Error' || isBeingPulled(after);
  return before.status?.state !== after.status?.state && !isOurs;
}
