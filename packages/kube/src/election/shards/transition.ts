import type { Logger } from 'pino';
import { Lease } from '../../kinds/builtin.ts';
import type { KubeClient } from '../../client/client.ts';
import type { Clock } from '../../runtime/clock.ts';
import { KubeError } from '../../errors.ts';
import { type LeaderElectionOptions, sharingAnnotation } from '../leadership.ts';
import type { MemberLeases } from './membership-options.ts';
import type { ObservedMember } from './assignment.ts';

/**
 * How replicas that share the work and replicas that do not keep out of each other's way while a cluster changes from one to
 * the other. Each side makes itself known before it looks for the other, so that at least one of two sees the other:
 *
 *   who shares:  writes its own lease ─► waits until the leader's lease is held by one that shares ─► works on its part
 *   who does not: takes the leader's lease ─► waits until nobody renews a lease of those who share ─► works on everything
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
    if (lastLogged !== holder) log.info({ waitsFor: holder }, 'works on nothing until a replica that shares leads');
    lastLogged = holder;
    await clock.sleep(leaderElection.retryMs, signal);
  }
}

/** Who leads and does not share; `nobody yet` where nobody leads, or it is not known. */
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

/** Rejects only when the signal is aborted. Leases that nobody renews are of replicas that ended. */
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
    if (lastLogged !== waitsFor) log.info({ waitsFor }, 'leads, and works on nothing until nobody shares any more');
    lastLogged = waitsFor;
    await clock.sleep(leaderElection.retryMs, signal);
  }
}

/** Who shares has to list leases, too: where the role does not allow it, nobody shares. */
const noneIfForbidden = (error: unknown): readonly ObservedMember[] | undefined =>
  error instanceof KubeError && error.code === 'Forbidden' ? [] : undefined;
