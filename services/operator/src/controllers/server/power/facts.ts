import type { Server } from '@metal/api/v1alpha1/server.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { jitter } from '@metal/kube/runtime/jitter.ts';
import type { PowerState } from '@metal/redfish/resources/systems.ts';
import type { PowerCause, ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import type { OperatorContext } from '../../context.ts';

export interface PowerFacts {
  readonly power: PowerState;
  /** Time since the last observation; undefined before the first. */
  readonly powerSeenMsAgo: number | undefined;
  /** How long this power state has been observed. */
  readonly powerForMs: number;
  readonly powerCause: PowerCause;
  readonly nextPollInMs: number;
  readonly transition:
    | {
        readonly target: 'On' | 'Off';
        readonly since: string;
        readonly sinceRequestMs: number;
        readonly forced: boolean;
        readonly attempts: number;
      }
    | undefined;
  readonly powerTimeoutMs: number;
  readonly maxPowerAttempts: number;
  readonly enforcePowerOff: boolean;
}

/**
 * The pauses between two polls of a changing power state, up to the polling interval. Machines take half a second and more; one
 * that is off is noticed after at most half as long again.
 */
const pollAfterMs = { first: 700, growth: 1.5 };

export function powerFacts(
  server: Server,
  memory: ObservedSystem,
  now: number,
  { config }: Pick<OperatorContext, 'config'>,
): PowerFacts {
  const { state, transition, power } = memory;
  const pauseMs =
    transition === undefined
      ? jitter(config.serverResyncMs, server.metadata.name)
      : Math.min(pollAfterMs.first * pollAfterMs.growth ** transition.polls, config.powerPollingIntervalMs);
  const observedAt = Math.max(state?.at ?? 0, transition?.lastRequestAt ?? 0);
  return {
    power: state?.value.powerState ?? 'Unknown',
    powerSeenMsAgo: state === undefined ? undefined : now - state.at,
    powerForMs: power === undefined ? 0 : now - power.since,
    powerCause: power?.cause ?? 'unknown',
    nextPollInMs: state === undefined ? 0 : observedAt + pauseMs - now,
    transition:
      transition === undefined
        ? undefined
        : {
            target: transition.target,
            forced: transition.forced,
            since: new Date(transition.firstRequestAt).toISOString(),
            sinceRequestMs: now - transition.lastRequestAt,
            attempts: transition.attempts,
          },
    powerTimeoutMs: config.powerTimeoutMs,
    maxPowerAttempts: config.powerAttempts,
    enforcePowerOff: config.enforcePowerOff,
  };
}

/** A change is requested only after an observation that is younger than this; the last resync is too old for that. */
export const freshForMs = seconds(10);
