import { watchIpxeBootConfigs } from '@metal/boot/boot.ts';
import { type MachineCaches, watchMachineKinds } from '@metal/dhcp/machines.ts';
import { type MetadataCaches, watchMetadataKinds } from '@metal/metadata/metadata.ts';
import type { Metal3Caches } from '@metal/metal3/caches.ts';
import { type OperatorCaches, watchOperatorKinds } from '@metal/operator/caches.ts';
import type { CacheSet } from '@metal/kube/cache/cache.ts';
import type { KindProblem } from '@metal/kube/client/installed-kinds.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import type { Logger } from 'pino';
import { describeHold, type KindMonitor } from './kind-monitor.ts';
import type { Metal3Service } from './metal3-service.ts';
import type { MetalOperatorConfig } from './options.ts';

interface CachesToStart {
  readonly cacheSet: Pick<CacheSet, 'start' | 'tolerateMissing'>;
  readonly kindMonitor: Pick<KindMonitor, 'run' | 'nextCheck' | 'isUninstalling'>;
  readonly servers: Pick<OperatorCaches['servers'], 'all'>;
  readonly clock: Clock;
  readonly stop: AbortController;
  readonly stack: AsyncDisposableStack;
}

/** A check that the API server does not answer for this long, while it answers all lists, is not waited for. */
const firstCheckWithinMs = seconds(30);

/**
 * Resolves when the caches are complete. While the CRDs are being deleted, kinds that are gone already have no objects, and
 * it resolves when every Server is being deleted: a machine whose claim or BMC is unknown must not be judged.
 */
export async function startCaches({
  cacheSet,
  kindMonitor,
  servers,
  clock,
  stop,
  stack,
}: CachesToStart): Promise<void> {
  const firstCheck = kindMonitor.nextCheck;
  const monitoring = kindMonitor.run(stop.signal);
  stack.defer(() => monitoring);
  // Aborted before, and also where the start fails.
  stack.defer(() => stop.abort(new Error('stopping')));
  const isStarted = cacheSet.start(stop.signal).then(() => true);
  let checked = firstCheck;
  while (!(await Promise.race([isStarted, checked.then(() => false)]))) {
    checked = kindMonitor.nextCheck;
    if (kindMonitor.isUninstalling) cacheSet.tolerateMissing();
  }
  await withinLimit(firstCheck, clock);
  const isKept = () => [...servers.all()].some(({ metadata }) => metadata.deletionTimestamp === undefined);
  while (kindMonitor.isUninstalling && isKept()) {
    await kindMonitor.nextCheck;
    stop.signal.throwIfAborted();
  }
}

async function withinLimit(check: Promise<void>, clock: Clock): Promise<void> {
  const limit = Promise.withResolvers<void>();
  using _timer = clock.setTimeout(firstCheckWithinMs, limit.resolve);
  await Promise.race([check, limit.promise]);
}

interface HeldStart {
  readonly kindMonitor: Pick<KindMonitor, 'nextCheck' | 'holdsControllers' | 'problems'>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Resolves when the installed kinds allow controllers to act, so that a rolling update leaves one operator acting. */
export async function untilKindsAllowControllers({ kindMonitor, log, signal }: HeldStart): Promise<void> {
  let logged: string | undefined;
  while (kindMonitor.holdsControllers) {
    const { nextCheck } = kindMonitor;
    const reason = describeHold(kindMonitor.problems);
    if (reason !== logged) log.warn({ reason }, 'controllers wait for other CRDs: nothing acts on servers');
    logged = reason;
    await nextCheck;
    signal.throwIfAborted();
  }
}

export interface Caches {
  readonly metadata: MetadataCaches | undefined;
  readonly machines: MachineCaches | undefined;
  /** Undefined in a process with the metadata service only, whose role covers no other watch. */
  readonly operator: OperatorCaches | undefined;
  /** Undefined without the component: most clusters have no kinds of Metal3. */
  readonly metal3: Metal3Caches | undefined;
}

/** Declares the watches of all components. */
export function watchKinds(
  cacheSet: CacheSet,
  { components }: MetalOperatorConfig,
  metal3Service: Pick<Metal3Service, 'watchMetal3Kinds'> | undefined,
): Caches {
  const metadata = components.has('metadata') ? watchMetadataKinds(cacheSet) : undefined;
  const operator = components.size === 1 && components.has('metadata') ? undefined : watchOperatorKinds(cacheSet);
  if (components.has('boot')) watchIpxeBootConfigs(cacheSet);
  const machines = components.has('dhcp') ? watchMachineKinds(cacheSet) : undefined;
  const metal3 = metal3Service?.watchMetal3Kinds(cacheSet);
  return { metadata, machines, operator, metal3 };
}

/** A list shows at once that a kind is missing. */
export function kindProblemsOf({ problems }: KindMonitor, { missing }: CacheSet): KindProblem[] {
  const known = new Set(problems.map(({ name }) => name));
  const noticed = missing.filter((name) => !known.has(name));
  return [...noticed.map((name): KindProblem => ({ name, problem: 'missing', missing: [] })), ...problems];
}

export function describeUnsynced({ unsynced }: CacheSet): string {
  if (unsynced.length === 0) return 'it knows the fleet, and its services do not listen yet';
  const reason = unsynced.find(({ lastError }) => lastError !== undefined)?.lastError;
  const names = unsynced.map(({ resource }) => resource).join(', ');
  return `it does not know all ${names} yet${reason === undefined ? '' : `: ${reason}`}`;
}
