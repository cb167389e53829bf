import type { Server } from '@metal/api/v1alpha1/server.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { type CleanupLimits, type CleanupQueue, isQueued, type QueuePosition } from './cleanup-queue.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { OperatorConfig } from '../options.ts';

/** Queue position and limits of a server. */
export interface QueueFacts extends QueuePosition, CleanupLimits {}

interface QueueContext {
  readonly cleanupQueue: CleanupQueue;
  readonly config: Pick<OperatorConfig, 'cleanupAtOnce' | 'cleanupPerHour'>;
}

const limitsOf = ({ config }: Pick<QueueContext, 'config'>): CleanupLimits => ({
  atOnce: config.cleanupAtOnce,
  perHour: config.cleanupPerHour,
});

export const queueFacts = (server: Server, context: QueueContext, now: number): QueueFacts => ({
  ...context.cleanupQueue.positionOf(server, now),
  ...limitsOf(context),
});

/** The limit that a server and all before it in the queue would exceed. */
export type QueueLimit = 'atOnce' | 'perHour' | 'inFlight';

/** Undefined when the server is admissible. */
export function limitReached(queue: QueueFacts): QueueLimit | undefined {
  const { ahead, running, atOnce, startedInHour, perHour, available } = queue;
  if (running + ahead >= atOnce) return 'atOnce';
  if (startedInHour + ahead >= perHour) return 'perHour';
  return ahead < available ? undefined : 'inFlight';
}

export const isAdmissible = (queue: QueueFacts): boolean => limitReached(queue) === undefined;

/** Until the next check. A cleanup that starts, ends or leaves the queue enqueues the next server; the hourly limit needs a timer. */
export const queuePollMs = (queue: QueueFacts): number =>
  limitReached(queue) === 'perHour' ? Math.max(queue.nextHourlySlotInMs, seconds(1)) : minutes(5);

/** The servers to enqueue when a cleanup starts, ends or leaves the queue. */
export const nextInQueue = (context: QueueContext & { readonly clock: Clock }): string[] =>
  context.cleanupQueue.next(limitsOf(context), context.clock.now());

/** Source for controllers: enqueues the next servers when a slot is released. */
export const queueSource = (
  context: QueueContext & { readonly clock: Clock },
  enqueue: (name: string) => void,
): Disposable => context.cleanupQueue.capacityFreed.on(() => nextInQueue(context).forEach(enqueue));

export function isAboutQueue(before: Server | undefined, after: Server | undefined): boolean {
  const isInCleanup = (server: Server | undefined): boolean => server?.status?.state === 'Cleanup';
  if (!isInCleanup(before)) return false;
  return (
    !isInCleanup(after) ||
    before?.status?.cleanup?.attempt !== after?.status?.cleanup?.attempt ||
    (isQueued(before as Server) && !isQueued(after as Server)) // the state of both was checked above
  );
}
