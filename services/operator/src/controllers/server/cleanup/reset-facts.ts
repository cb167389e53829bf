import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { cleanupBiosResetAnnotation } from '@metal/api/wire/contract.ts';
import type { BiosOrder, ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import type { OperatorContext } from '../../context.ts';
import { wantedDevices } from '../settings/facts.ts';
import type { CleanupPolicy } from './policy.ts';

/**
 * State of the reset of a setting. requested: the BMC accepted it, and the result was not observed yet.
 *
 *   due ──accepted by the BMC──► requested ──observed──► done
 *    └──────────rejected────────────┴──────────────────► failed
 */
type ResetFacts<Due, Order, Result> =
  | { readonly kind: 'none' }
  | ({ readonly kind: 'due' } & Due)
  | ({ readonly kind: 'requested'; readonly nextPollInMs: number; readonly forMs: number } & Order)
  | { readonly kind: 'failed'; readonly message: string }
  | ({ readonly kind: 'done'; readonly result: Result } & Order);

export type BiosFacts = ResetFacts<unknown, BiosOrder, 'Confirmed' | 'Accepted'>;
type Devices = { readonly devices: readonly string[] };
export type BootOrderFacts = ResetFacts<Devices, Devices, 'AsWanted' | 'AtNextStart'>;

/** Identifies an attempt of the server: the time of its admission, and its number. */
export const attemptKey = ({ status }: Server): string =>
  `${status?.cleanup?.startedTime ?? ''} ${status?.cleanup?.attempt ?? 0}`;

/** The memory may hold a request of an earlier attempt, which does not count. */
export const ofThisAttempt = <T extends { readonly of: string }>(
  server: Server,
  recorded: T | undefined,
): T | undefined => (recorded?.of === attemptKey(server) ? recorded : undefined);

interface FactsInput {
  readonly server: Server;
  readonly policy: CleanupPolicy;
  /** The boot configuration of the attempt. */
  readonly boot: ServerBootConfiguration | undefined;
  readonly memory: ObservedSystem;
  readonly context: Pick<OperatorContext, 'config'>;
  readonly now: number;
}

/**
 * The request for the reset is recorded in the boot configuration of the attempt, before the machine can start it. A process
 * that finds that configuration knows of the reset; a process that finds none requests it again, which has no effect.
 */
export function biosFacts({ server, policy, boot, memory, context, now }: FactsInput): BiosFacts {
  if (policy.bios === 'None') return { kind: 'none' };
  const biosReset = ofThisAttempt(server, memory.biosReset);
  if (biosReset?.rejection !== undefined) return { kind: 'failed', message: biosReset.rejection };
  const order = boot === undefined ? biosReset?.order : biosOrderIn(boot);
  // A boot that was prepared before the policy requested a reset ends without one.
  if (order === undefined) return { kind: boot === undefined ? 'due' : 'none' };
  const { seen } = biosReset ?? {};
  if (seen?.state.kind === 'Failed') return { kind: 'failed', message: seen.state.message };
  if (seen !== undefined && seen.state.kind !== 'Pending') return { kind: 'done', ...order, result: seen.state.kind };
  const nextPollInMs = seen === undefined ? 0 : seen.at + context.config.powerPollingIntervalMs - now;
  return { kind: 'requested', ...order, nextPollInMs, forMs: now - (seen?.since ?? now) };
}

export const biosOrderText = ({ requestedTime, task }: BiosOrder): string =>
  task === undefined ? requestedTime : `${requestedTime} ${task}`;

function biosOrderIn({ metadata }: ServerBootConfiguration): BiosOrder | undefined {
  const [requestedTime, task] = metadata.annotations?.[cleanupBiosResetAnnotation]?.split(' ') ?? [];
  return requestedTime === undefined ? undefined : { requestedTime, task };
}

/** Restores `spec.bootOrder`, or else the order that the first discovery recorded. */
export function bootOrderResetFacts({ server, policy, memory, context, now }: FactsInput): BootOrderFacts {
  if (policy.bootOrder === 'None') return { kind: 'none' };
  const { state } = memory;
  const reset = ofThisAttempt(server, memory.bootOrderReset);
  if (reset?.rejection !== undefined) return { kind: 'failed', message: reset.rejection };
  const wanted = wantedDevices(server.spec);
  const devices = wanted.length > 0 ? wanted : (server.status?.bootOrder ?? []);
  if (devices.length === 0)
    return {
      kind: 'failed',
      message: 'its first discovery saw no boot order, and spec.bootOrder names none; set that',
    };
  const seen = state?.value.bootOrder ?? [];
  if (devices.every((device, index) => seen[index] === device)) return { kind: 'done', devices, result: 'AsWanted' };
  if (reset === undefined) return { kind: 'due', devices };
  if (reset.isPending) return { kind: 'done', devices, result: 'AtNextStart' };
  const nextPollInMs = reset.at + context.config.powerPollingIntervalMs - now;
  return { kind: 'requested', devices, nextPollInMs, forMs: now - reset.since };
}
