import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Clock } from '../runtime/clock.ts';
import type { QueueObserver, WorkQueue } from './work-queue.ts';
import type { Semaphore } from './semaphore.ts';

export type ReconcileResult = 'success' | 'error' | 'requeue' | 'requeue_after';

const secondBuckets = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];

/** Metrics under the names of controller-runtime, which existing dashboards use. */
export class ControllerMetrics {
  readonly #clock: Clock;
  readonly #reconciles: Counter;
  readonly #errors: Counter;
  readonly #reconcileSeconds: Histogram;
  readonly #adds: Counter;
  readonly #retries: Counter;
  readonly #waitSeconds: Histogram;
  readonly #workSeconds: Histogram;
  readonly #followed = new Map<string, { queue: WorkQueue; semaphore: Semaphore }>();

  constructor(registry: Registry, clock: Clock) {
    this.#clock = clock;
    const counter = (name: string, help: string, labelNames: string[]) =>
      new Counter({ name, help, labelNames, registers: [registry] });
    const histogram = (name: string, help: string, labelNames: string[]) =>
      new Histogram({ name, help, labelNames, buckets: secondBuckets, registers: [registry] });
    this.#reconciles = counter('controller_runtime_reconcile_total', 'Reconciles by result', ['controller', 'result']);
    this.#errors = counter('controller_runtime_reconcile_errors_total', 'Failed reconciles', ['controller']);
    this.#reconcileSeconds = histogram('controller_runtime_reconcile_time_seconds', 'Duration of reconciles', [
      'controller',
    ]);
    this.#adds = counter('workqueue_adds_total', 'Keys added', ['name']);
    this.#retries = counter('workqueue_retries_total', 'Keys added after a failure', ['name']);
    this.#waitSeconds = histogram(
      'workqueue_queue_duration_seconds',
      'Time from when a key is due until its reconcile starts',
      ['name'],
    );
    this.#workSeconds = histogram('workqueue_work_duration_seconds', 'Duration of the reconcile of a key', ['name']);
    this.#registerGauges(registry);
  }

  follow(name: string, queue: WorkQueue, semaphore: Semaphore): void {
    this.#followed.set(name, { queue, semaphore });
    for (const result of ['success', 'error', 'requeue', 'requeue_after'])
      this.#reconciles.inc({ controller: name, result }, 0);
  }

  queueObserver(name: string): QueueObserver {
    return {
      added: () => this.#adds.inc({ name }),
      started: (waitedMs) => this.#waitSeconds.observe({ name }, waitedMs / 1_000),
      retried: () => this.#retries.inc({ name }),
    };
  }

  reconcileStarted(controller: string): (result: ReconcileResult) => void {
    const startedAt = performance.now();
    return (result) => {
      const seconds = (performance.now() - startedAt) / 1_000;
      this.#reconciles.inc({ controller, result });
      if (result === 'error') this.#errors.inc({ controller });
      this.#reconcileSeconds.observe({ controller }, seconds);
      this.#workSeconds.observe({ name: controller }, seconds);
    };
  }

  #registerGauges(registry: Registry): void {
    this.#gauge(
      registry,
      'controller_runtime_max_concurrent_reconciles',
      'Maximum concurrent reconciles',
      'controller',
      ({ semaphore }) => semaphore.size,
    );
    this.#gauge(
      registry,
      'controller_runtime_active_workers',
      'Running reconciles, without those that wait for an action',
      'controller',
      ({ semaphore }) => semaphore.active,
    );
    this.#gauge(registry, 'workqueue_depth', 'Keys in the queue', 'name', ({ queue }) => queue.depth);
    this.#gauge(registry, 'workqueue_unfinished_work_seconds', 'Total age of running reconciles', 'name', ({ queue }) =>
      this.#ages(queue).reduce((sum, age) => sum + age, 0),
    );
    this.#gauge(
      registry,
      'workqueue_longest_running_processor_seconds',
      'Age of the longest-running reconcile',
      'name',
      ({ queue }) => Math.max(0, ...this.#ages(queue)),
    );
  }

  #ages(queue: WorkQueue): number[] {
    return [...queue.runningSince].map((since) => (this.#clock.now() - since) / 1_000);
  }

  #gauge(
    registry: Registry,
    name: string,
    help: string,
    label: string,
    value: (followed: { queue: WorkQueue; semaphore: Semaphore }) => number,
  ): void {
    const followed = this.#followed;
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [registry],
      collect() {
        for (const [controller, parts] of followed) this.set({ [label]: controller }, value(parts));
      },
    });
  }
}
