import type { Server } from '@metal/api/v1alpha1/server.ts';
import { isWaiting, type Standing } from '../../cleanup-ledger.ts';
import type { OperatorContext } from '../../context.ts';

/** Whose turn it is to be erased, over all servers. */
export interface QueueFacts extends Standing {
  readonly atOnce: number;
  readonly perHour: number;
}

type QueueContext = Pick<OperatorContext, 'cleanups' | 'config'>;

export const queueFacts = (server: Server, { cleanups, config }: QueueContext, now: number): QueueFacts => ({
  ...cleanups.standingOf(server, now),
  atOnce: config.cleanupAtOnce,
  perHour: config.cleanupPerHour,
});

/** Room for this server and for all that come before it. */
export const isItsTurn = ({ ahead, running, atOnce, startedInHour, perHour }: QueueFacts): boolean =>
  running + ahead < atOnce && startedInHour + ahead < perHour;

/** Whoever waits hears when somebody begins, ends or stops waiting; so many of those who are next. */
export const nextInQueue = ({ cleanups, config }: QueueContext): string[] =>
  cleanups.first(Math.max(config.cleanupAtOnce, 1));

export function isAboutQueue(before: Server | undefined, after: Server | undefined): boolean {
  const takesPart = (server: Server | undefined): boolean => server?.status?.state === 'Cleanup';
  if (!takesPart(before)) return false;
  return (
    !takesPart(after) ||
    before?.status?.cleanup?.attempt !== after?.status?.cleanup?.attempt ||
    (isWaiting(before as Server) && !isWaiting(after as Server)) // both take part, so both are there
  );
}
