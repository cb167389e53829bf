import type { Server } from '@metal/api/v1alpha1/server.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { type CleanupLimits, type CleanupQueue, isQueued, type QueuePosition } from './cleanup-queue.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { OperatorConfig } from '../config.ts';

/** Whose turn it is to be erased, over all servers. */
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

/** What leaves no room for a server and all that come before it. */
export type QueueLimit = 'atOnce' | 'perHour' | 'inFlight';

/** Undefined when it is its turn. */
export function limitReached(queue: QueueFacts): QueueLimit | undefined {
  const { ahead, running, atOnce, startedInHour, perHour, available } = queue;
  if (running + ahead >= atOnce) return 'atOnce';
  if (startedInHour + ahead >= perHour) return 'perHour';
  return ahead < available ? undefined : 'inFlight';
}

export const isAdmissible = (queue: QueueFacts): boolean => limitReached(queue) === undefined;

/** Until it looks again. Whoever begins, ends or stops waiting wakes the next; only the hour passes without a word. */
export const queuePollMs = (queue: QueueFacts): number =>
  limitReached(queue) === 'perHour' ? Math.max(queue.nextHourlySlotInMs, seconds(1)) : minutes(5);

/** Who may begin hears when somebody begins, has started, ends or stops waiting. */
export const nextInQueue = (context: QueueContext & { readonly clock: Clock }): string[] =>
  context.cleanupQueue.next(limitsOf(context), context.clock.now());

/** For controllers: wakes those who may begin when there is room for one more. */
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
    (isQueued(before as Server) && !isQueued(after as Server)) // both take part, so both are there
  );
}
