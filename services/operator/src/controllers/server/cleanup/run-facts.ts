import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { cleanupPreparedAnnotation } from '@metal/api/wire/contract.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { freshForMs } from '../power/facts.ts';

export interface RunFacts {
  /** Whether the machine has run since the boot of the attempt was prepared; unknown without a fresh observation. */
  readonly hasRun: 'yes' | 'no' | 'unknown';
  /** When that was first observed, RFC 3339. */
  readonly poweredOnTime: string | undefined;
}

export function runFacts(
  server: Server,
  boot: ServerBootConfiguration | undefined,
  memory: ObservedSystem,
  now: number,
): RunFacts {
  const poweredOnTime = boot && poweredOnTimeOf(server, boot, memory);
  if (poweredOnTime !== undefined) return { hasRun: 'yes', poweredOnTime };
  return { hasRun: isPowerFresh(memory, now) ? 'no' : 'unknown', poweredOnTime };
}

/**
 * When the operator requested the start of the machine for this boot, or observed it running. The status keeps the time. If a
 * process ends before it is written, the attempt is repeated unless the machine still runs.
 */
function poweredOnTimeOf(
  { status }: Server,
  { metadata }: ServerBootConfiguration,
  { transition, seenOnAt }: ObservedSystem,
): string | undefined {
  const preparedAt = Date.parse(metadata.annotations?.[cleanupPreparedAnnotation] ?? '');
  const written = status?.cleanup?.poweredOnTime;
  if (written !== undefined && Date.parse(written) >= preparedAt) return written;
  const requestedAt = transition?.target === 'On' ? transition.firstRequestAt : undefined;
  const at = [requestedAt, seenOnAt].find((time) => time !== undefined && time >= preparedAt);
  return at === undefined ? undefined : new Date(at).toISOString();
}

const isPowerFresh = ({ state }: ObservedSystem, now: number): boolean =>
  state !== undefined && now - state.at < freshForMs;
