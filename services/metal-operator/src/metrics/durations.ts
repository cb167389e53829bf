import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { isAdoptedBy } from '@metal/api/wire/adoption.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Cache, Change } from '@metal/kube/cache/store.ts';
import { Histogram, type Registry } from 'prom-client';

export interface DurationSources {
  readonly servers: Cache<Server>;
  readonly claims: Cache<ServerClaim>;
  readonly clock: Clock;
}

export const fromSecondsToDays = [1, 5, 10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 14_400, 86_400, 604_800];

/** A server that is to be erased was discovered all the same. */
const discovered: ReadonlySet<string> = new Set(['Available', 'Cleanup']);

/**
 * How long things take, told from what changes in the caches: nothing is counted twice after a restart, because what a
 * list brings is no change. Each replica counts what it saw.
 */
export function observeDurations(registry: Registry, sources: DurationSources): Disposable {
  const phases = histogram(registry, 'metal_server_phase_duration_seconds', 'Time a server spent in a state it left', [
    'state',
  ]);
  const discoveries = histogram(
    registry,
    'metal_server_discovery_duration_seconds',
    'Time from the start of a discovery to the report that ended it',
  );
  const bindings = histogram(
    registry,
    'metal_claim_bind_duration_seconds',
    'Time from the creation of a claim until it held its server',
  );
  const boots = histogram(
    registry,
    'metal_claim_boot_duration_seconds',
    'Time from the creation of a claim until its image had booted',
  );

  const stack = new DisposableStack();
  stack.use(
    sources.servers.onChange((change) => {
      const left = phaseLeft(change);
      if (left !== undefined) phases.observe({ state: left.state }, left.seconds);
      if (left?.state === 'Discovery' && discovered.has(left.next)) discoveries.observe(left.seconds);
      const booted = claimBooted(change, sources);
      if (booted !== undefined) boots.observe(ageSeconds(booted, sources.clock));
    }),
  );
  stack.use(
    sources.claims.onChange(({ before, after }) => {
      const bound = before?.status?.phase !== 'Bound' && after?.status?.phase === 'Bound';
      if (before !== undefined && bound) bindings.observe(ageSeconds(after, sources.clock));
    }),
  );
  return stack;
}

function histogram(registry: Registry, name: string, help: string, labelNames: string[] = []): Histogram {
  return new Histogram({ name, help, labelNames, buckets: fromSecondsToDays, registers: [registry] });
}

/** Both times stand in the status, so that it does not matter when this process heard of the change. */
function phaseLeft({ before, after }: Change<Server>): { state: string; next: string; seconds: number } | undefined {
  const [from, to] = [before?.status, after?.status];
  if (!from?.state || !to?.state || from.state === to.state) return undefined;
  const seconds = (Date.parse(to.stateSince ?? '') - Date.parse(from.stateSince ?? '')) / 1_000;
  return Number.isNaN(seconds) ? undefined : { state: from.state, next: to.state, seconds: Math.max(0, seconds) };
}

/** The claim whose image has just booted for the first time on this server. */
function claimBooted({ before, after }: Change<Server>, { claims }: DurationSources): ServerClaim | undefined {
  const uid = after?.status?.provisionedClaimUID;
  if (before === undefined || after === undefined || uid === undefined || before.status?.provisionedClaimUID === uid)
    return undefined;
  const ref = after.spec.serverClaimRef;
  const claim = ref === undefined ? undefined : claims.get(ref);
  return claim?.metadata.uid === uid && !isAdoptedBy(after, claim) ? claim : undefined;
}

function ageSeconds({ metadata }: ServerClaim, clock: Clock): number {
  return Math.max(0, (clock.now() - Date.parse(metadata.creationTimestamp ?? '')) / 1_000) || 0;
}
