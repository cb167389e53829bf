import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { PowerState } from '@metal/redfish/resources/systems.ts';
import type { OperatorContext } from '../../context.ts';
import type { PowerCause, ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { jitter } from '@metal/kube/runtime/jitter.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';

export interface PowerFacts {
  readonly power: PowerState;
  /** Since the last look at the machine; undefined before the first. */
  readonly powerSeenMsAgo: number | undefined;
  /** How long it has been seen in this power state. */
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
}

/** The pause between looks at a changing power state starts here and doubles up to the polling interval. */
const firstPollAfterMs = 500;

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
      : Math.min(firstPollAfterMs * 2 ** transition.polls, config.powerPollingIntervalMs);
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
  };
}

/** Power is never changed on what was true at the last resync: the look before the deed is this young. */
export const freshForMs = seconds(10);
