import type { Logger } from 'pino';
import { Lease } from '../../kinds/builtin.ts';
import type { KubeClient } from '../../client/client.ts';
import type { Clock } from '../../runtime/clock.ts';
import { KubeError } from '../../errors.ts';
import { type LeaderElectionOptions, sharingAnnotation } from '../leadership.ts';
import type { MemberLeases } from './membership-options.ts';
import type { ObservedMember } from './assignment.ts';

/**
 * Keeps sharing replicas and a leader that does not share from working at once while a cluster changes from one mode to
 * the other. Each side writes its lease before it reads the other's, so that at least one of two sees the other:
 *
 *   sharing replica:     writes its own lease ─► waits until a sharing replica holds the leader's lease ─► works on its shard
 *   non-sharing leader:  takes the leader's lease ─► waits until the leases of sharing replicas expire ─► works on all keys
 */
interface TransitionContext {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly leaderElection: LeaderElectionOptions;
}

/** Rejects only when the signal is aborted. */
export async function untilSharersLead(context: TransitionContext, signal: AbortSignal): Promise<void> {
  const { clock, log, leaderElection } = context;
  for (let lastLogged = ''; ; ) {
    const holder = await unsharedLeaderIn(context, signal);
    if (holder === undefined) return;
    if (lastLogged !== holder) log.info({ waitsFor: holder }, 'waiting until a sharing replica is the leader');
    lastLogged = holder;
    await clock.sleep(leaderElection.retryMs, signal);
  }
}

/** The leader if it does not share; `nobody yet` if there is none or it is unknown. */
async function unsharedLeaderIn(
  { client, leaderElection }: TransitionContext,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { namespace, leaseName: name } = leaderElection;
  const lease = await client.find(Lease, { namespace, name }, { signal }).catch(() => undefined);
  const holder = lease?.spec?.holderIdentity ?? '';
  if (holder === '') return 'nobody yet';
  return lease?.metadata.annotations?.[sharingAnnotation] === holder ? undefined : holder;
}

/** Rejects only when the signal is aborted. Leases that are not renewed are of ended replicas. */
export async function untilNobodyShares(
  {
    clock,
    log,
    leaderElection,
    leases,
  }: Omit<TransitionContext, 'client'> & { readonly leases: Pick<MemberLeases, 'list'> },
  signal: AbortSignal,
): Promise<void> {
  const seen = new Map<string, { readonly version: string; readonly at: number }>();
  for (let lastLogged = ''; ; ) {
    const members = await leases.list(signal).catch(noneIfForbidden);
    for (const { name, version } of members ?? [])
      if (seen.get(name)?.version !== version) seen.set(name, { version, at: clock.now() });
    const living = members?.filter(({ name, leaseMs }) => clock.now() - (seen.get(name)?.at ?? 0) <= leaseMs);
    if (living?.length === 0) return;
    const waitsFor = living?.map(({ name }) => name).join(', ') ?? 'the API server';
    if (lastLogged !== waitsFor) log.info({ waitsFor }, 'leading; waiting until the leases of sharing replicas expire');
    lastLogged = waitsFor;
    await clock.sleep(leaderElection.retryMs, signal);
  }
}

/** A sharing replica must list leases, too: if the role forbids it, none shares. */
const noneIfForbidden = (error: unknown): readonly ObservedMember[] | undefined =>
  error instanceof KubeError && error.code === 'Forbidden' ? [] : undefined;
