import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { AwaitedBootStep } from '@metal/api/wire/boot-steps.ts';
import { currentBootRef } from '@metal/api/wire/current-boot.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { EventRecorder } from '@metal/kube/client/events.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import type { Logger } from 'pino';
import type { BootProgressRecorder } from '../../progress/boot-progress-recorder.ts';
import { decideBoot } from '../../authorization/boot-decision.ts';
import { type Awaited, awaitedOf, type Deadlines, overdueCondition, overdueType } from '../../progress/progress.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { UnknownMachines } from '../../authorization/unknown-machines.ts';

export interface BootDeadlineMonitorOptions {
  readonly servers: Cache<Server>;
  readonly bootConfigurations: Cache<ServerBootConfiguration>;
  /** Probe reports go to the registry, and are observed here. */
  readonly inventories?: Cache<ServerInventory> | undefined;
  readonly progress: BootProgressRecorder;
  readonly unknownMachines: UnknownMachines;
  readonly deadlines: Deadlines;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onOverdue?: ((step: AwaitedBootStep) => void) | undefined;
}

/**
 * Monitors the deadline of the next step of each running boot. If it is exceeded, a condition and an event report it; a successful
 * boot causes no write.
 *
 *   powered on ─► script ─► kernel ─► initrd ─► ignition ─► probe      each within its deadline from the step before
 */
export class BootDeadlineMonitor implements Disposable {
  readonly #options: BootDeadlineMonitorOptions;
  readonly #stack = new DisposableStack();
  /** By server: when its power-on was observed. */
  readonly #poweredOnAt = new Map<string, number>();
  /** By UID of the boot configuration: when it was created. A machine that ran before was not started for it. */
  readonly #madeAt = new Map<string, number>();
  readonly #timers = new Map<string, Disposable>();

  constructor(options: BootDeadlineMonitorOptions) {
    const { servers, bootConfigurations, inventories } = options;
    this.#options = options;
    this.#stack.use(
      bootConfigurations.onChange(({ before, after }) => {
        if (before?.metadata.uid !== after?.metadata.uid) this.#onReplaced(before, after);
        if (after !== undefined) this.#expect(after);
      }),
    );
    this.#stack.use(servers.onChange(({ before, after }) => this.#onPowerChange(before, after)));
    if (inventories !== undefined)
      this.#stack.use(inventories.onChange(({ before, after }) => this.#onReport(before, after)));
    for (const boot of bootConfigurations.all()) this.#expect(boot);
  }

  [Symbol.dispose](): void {
    this.#stack.dispose();
    for (const timer of this.#timers.values()) timer[Symbol.dispose]();
    this.#timers.clear();
  }

  #onReplaced(before: ServerBootConfiguration | undefined, after: ServerBootConfiguration | undefined): void {
    if (before !== undefined) this.#forget(before);
    this.#madeAt.delete(before?.metadata.uid ?? '');
    if (after !== undefined) this.#madeAt.set(after.metadata.uid ?? '', this.#options.clock.now());
  }

  #onPowerChange(before: Server | undefined, after: Server | undefined): void {
    const name = after?.metadata.name ?? before?.metadata.name ?? '';
    const isOn = after?.status?.powerState === 'On';
    const wasOn = before === undefined || before.status?.powerState === 'On';
    if (!isOn) this.#poweredOnAt.delete(name);
    else if (!wasOn) this.#poweredOnAt.set(name, this.#options.clock.now());
    const boot = after && this.#bootOf(after);
    if (boot !== undefined && isOn !== wasOn) this.#expect(boot);
  }

  #onReport(before: ServerInventory | undefined, after: ServerInventory | undefined): void {
    const uid = after?.spec.bootConfigurationUID;
    const server = after && this.#options.servers.get(after.spec.serverRef.name);
    const boot = server && this.#bootOf(server);
    const isNewReport =
      before?.spec.reportDigest !== after?.spec.reportDigest || before?.spec.bootConfigurationUID !== uid;
    if (boot !== undefined && boot.metadata.uid === uid && isNewReport)
      void this.#options.progress.record(boot, 'probe');
  }

  #bootOf(server: Server): ServerBootConfiguration | undefined {
    const ref = currentBootRef(server);
    return ref && this.#options.bootConfigurations.get(ref);
  }

  #forget({ metadata: { uid = '' } }: ServerBootConfiguration): void {
    this.#timers.get(uid)?.[Symbol.dispose]();
    this.#timers.delete(uid);
  }

  /** The deadline callback also considers steps that are not written yet. */
  #expect(boot: ServerBootConfiguration): void {
    this.#forget(boot);
    const awaited = this.#awaitedOf(boot);
    if (awaited === undefined) return;
    const delayMs = dueAt(awaited) - this.#options.clock.now();
    const timer = this.#options.clock.setTimeout(delayMs, () => this.#due(boot));
    this.#timers.set(boot.metadata.uid ?? '', timer);
  }

  #due({ metadata }: ServerBootConfiguration): void {
    const { bootConfigurations, servers, clock, progress, unknownMachines, events, log, onOverdue } = this.#options;
    this.#timers.delete(metadata.uid ?? '');
    const boot = bootConfigurations.get(metadata);
    if (boot === undefined || boot.metadata.uid !== metadata.uid) return;
    const awaited = this.#awaitedOf(boot);
    if (awaited === undefined) return;
    if (dueAt(awaited) > clock.now()) return this.#expect(boot);
    const hint = awaited.step === 'script' ? unknownMachines.hint(awaited.since) : '';
    const overdue = overdueCondition(awaited, { hint, now: clock.now() });
    if (boot.status?.conditions?.some(({ type, reason }) => type === overdueType && reason === overdue.reason)) return;
    log.warn({ boot: keyOf(boot), server: boot.spec.serverRef.name, step: awaited.step }, overdue.message);
    onOverdue?.(awaited.step);
    progress.reportOverdue(boot, overdue);
    const { reason, message: note } = overdue;
    const server = servers.get(boot.spec.serverRef.name);
    for (const object of [boot, ...(server === undefined ? [] : [server])])
      events.record(object, { type: 'Warning', reason, action: 'Boot', note });
  }

  /** No step is expected of a machine that is off or installed, or that has another boot. */
  #awaitedOf(boot: ServerBootConfiguration): Awaited | undefined {
    const { servers, clock, progress, deadlines } = this.#options;
    const server = servers.get(boot.spec.serverRef.name);
    if (server?.status?.powerState !== 'On' || decideBoot(server, boot, clock.now()).boot === undefined)
      return undefined;
    const poweredOnAt = this.#poweredOnAt.get(server.metadata.name);
    const isStartedForIt = (poweredOnAt ?? 0) >= (this.#madeAt.get(boot.metadata.uid ?? '') ?? 0);
    return awaitedOf(boot, progress.stepsOf(boot), {
      poweredOnAt: isStartedForIt ? poweredOnAt : undefined,
      deadlines,
    });
  }
}

const dueAt = ({ since, withinMs }: Awaited): number => since + withinMs;
