import type { Server } from '@metal/api/v1alpha1/server.ts';
import { minutes, seconds } from '@metal/kube/decide.ts';
import { type CleanupLimits, isWaiting, type Standing } from '../../cleanup-ledger.ts';
import type { OperatorContext } from '../../context.ts';

/** Whose turn it is to be erased, over all servers. */
export interface QueueFacts extends Standing, CleanupLimits {}

type QueueContext = Pick<OperatorContext, 'cleanups' | 'config'>;

const limitsOf = ({ config }: Pick<OperatorContext, 'config'>): CleanupLimits => ({
  atOnce: config.cleanupAtOnce,
  perHour: config.cleanupPerHour,
});

export const queueFacts = (server: Server, context: QueueContext, now: number): QueueFacts => ({
  ...context.cleanups.standingOf(server, now),
  ...limitsOf(context),
});

/** What leaves no room for a server and all that come before it. */
export type HeldUp = 'atOnce' | 'perHour' | 'pace';

/** Undefined when it is its turn. */
export function heldUpBy(queue: QueueFacts): HeldUp | undefined {
  const { ahead, running, atOnce, startedInHour, perHour, room } = queue;
  if (running + ahead >= atOnce) return 'atOnce';
  if (startedInHour + ahead >= perHour) return 'perHour';
  return ahead < room ? undefined : 'pace';
}

export const isItsTurn = (queue: QueueFacts): boolean => heldUpBy(queue) === undefined;

/** Until it looks again. Whoever begins, ends or stops waiting wakes the next; only the hour passes without a word. */
export const queueLookMs = (queue: QueueFacts): number =>
  heldUpBy(queue) === 'perHour' ? Math.max(queue.hourFreesInMs, seconds(1)) : minutes(5);

/** Who may begin hears when somebody begins, has started, ends or stops waiting. */
export const nextInQueue = (context: QueueContext & Pick<OperatorContext, 'clock'>): string[] =>
  context.cleanups.next(limitsOf(context), context.clock.now());

/** For controllers: wakes those who may begin when there is room for one more. */
export const wakesInQueue = (context: OperatorContext, wake: (name: string) => void): Disposable =>
  context.cleanups.left.on(() => nextInQueue(context).forEach(wake));

export function isAboutQueue(before: Server | undefined, after: Server | undefined): boolean {
  const takesPart = (server: Server | undefined): boolean => server?.status?.state === 'Cleanup';
  if (!takesPart(before)) return false;
  return (
    !takesPart(after) ||
    before?.status?.cleanup?.attempt !== after?.status?.cleanup?.attempt ||
    (isWaiting(before as Server) && !isWaiting(after as Server)) // both take part, so both are there
  );
}
