import type { Server } from '@metal/api/v1alpha1/server.ts';
import { cleanupAdmittedAnnotation } from '@metal/api/wire/contract.ts';
import { minutes } from '@metal/kube/decide.ts';
import type { OperatorContext } from '../../context.ts';

/** Whose turn it is to be erased, over all servers. */
export interface QueueFacts {
  /** Servers that come before this one. */
  readonly ahead: number;
  readonly running: number;
  readonly atOnce: number;
  /** Servers that were let in within the last hour. */
  readonly startedInHour: number;
  readonly perHour: number;
  /** Until the oldest of those counts no more. */
  readonly hourFreesInMs: number;
}

type QueueContext = Pick<OperatorContext, 'caches' | 'config' | 'access'>;

const hourMs = minutes(60);

/**
 * Ordered by how long the disks have been waiting, then by name. Only those wait that said so: one that cannot be
 * erased, because its BMC is away for example, is in nobody's way.
 */
export function queueFacts(server: Server, { caches, config, access }: QueueContext, now: number): QueueFacts {
  const others = caches.servers.by('state', 'Cleanup').filter(({ metadata }) => metadata.uid !== server.metadata.uid);
  const isRunning = (one: Server): boolean =>
    (one.status?.cleanup?.attempt ?? 0) > 0 ||
    isLetIn(one) ||
    access.system(one.metadata.uid ?? '').cleanupAdmitted !== undefined ||
    access.system(one.metadata.uid ?? '').isBeingLetIn;
  // Another attempt of the same cleanup is no start of its own.
  const isAgain = (server.status?.cleanup?.failedAttempts ?? 0) > 0;
  const starts = [...caches.servers.all()]
    .filter(({ metadata }) => !isAgain || metadata.uid !== server.metadata.uid)
    .map(({ status }) => Date.parse(status?.cleanup?.startedTime ?? ''))
    .filter((at) => at > now - hourMs);
  // Let in here, and not written down yet.
  const unwritten = others.filter((one) => isRunning(one) && (one.status?.cleanup?.attempt ?? 0) === 0).length;
  return {
    ahead: others.filter((one) => isWaiting(one) && !isRunning(one) && comesBefore(one, server)).length,
    running: others.filter(isRunning).length,
    atOnce: config.cleanupAtOnce,
    startedInHour: starts.length + unwritten,
    perHour: config.cleanupPerHour,
    hourFreesInMs: starts.length === 0 ? hourMs : Math.max(0, Math.min(...starts) + hourMs - now),
  };
}

/** The words by which a replica is told that the next attempt on the server may begin. */
export const admissionOf = ({ status }: Server): string =>
  `${sinceOf({ status })} ${(status?.cleanup?.failedAttempts ?? 0) + 1}`;

/** The leading replica let in the attempt that comes next. */
export const isLetIn = (server: Server): boolean =>
  server.metadata.annotations?.[cleanupAdmittedAnnotation] === admissionOf(server);

/** Room for this server and for all that come before it. */
export const isItsTurn = ({ ahead, running, atOnce, startedInHour, perHour }: QueueFacts): boolean =>
  running + ahead < atOnce && startedInHour + ahead < perHour;

export const isWaiting = ({ status }: Server): boolean =>
  status?.state === 'Cleanup' && status.cleanup?.queuedSince !== undefined;

function comesBefore(one: Server, other: Server): boolean {
  const [a, b] = [sinceOf(one), sinceOf(other)];
  return a === b ? one.metadata.name < other.metadata.name : a < b;
}

const sinceOf = ({ status }: Pick<Server, 'status'>): string => status?.cleanup?.neededSince ?? '';

/** Whoever waits hears when somebody begins, ends or stops waiting; so many of those who are next. */
export function nextInQueue({ caches, config }: QueueContext): string[] {
  return caches.servers
    .by('state', 'Cleanup')
    .filter(isWaiting)
    .toSorted((a, b) => (comesBefore(a, b) ? -1 : 1))
    .slice(0, Math.max(config.cleanupAtOnce, 1))
    .map(({ metadata }) => metadata.name);
}

export function isAboutQueue(before: Server | undefined, after: Server | undefined): boolean {
  const takesPart = (server: Server | undefined): boolean => server?.status?.state === 'Cleanup';
  if (!takesPart(before)) return false;
  return (
    !takesPart(after) ||
    before?.status?.cleanup?.attempt !== after?.status?.cleanup?.attempt ||
    (isWaiting(before as Server) && !isWaiting(after as Server)) // both take part, so both are there
  );
}
