import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { cleanupBiosResetAnnotation } from '@metal/api/wire/contract.ts';
import type { OperatorContext } from '../../context.ts';
import type { BiosOrder, ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { wantedDevices } from '../settings/facts.ts';
import type { CleanupPolicy } from './policy.ts';

/**
 * How far the reset of a setting is. due: nothing was asked of the machine yet. asked: the BMC took it, and it has not
 * shown yet.
 *
 *   due ──asked of the BMC──► asked ──seen──► done
 *    └───────────refused────────┴──────────► failed
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

/** What tells an attempt from every other one of the server: when the limits let it in, and its number. */
export const attemptKey = ({ status }: Server): string =>
  `${status?.cleanup?.startedTime ?? ''} ${status?.cleanup?.attempt ?? 0}`;

/** A process may remember what it asked in an attempt that others have followed. */
export const ofThisAttempt = <T extends { readonly of: string }>(
  server: Server,
  recorded: T | undefined,
): T | undefined => (recorded?.of === attemptKey(server) ? recorded : undefined);

interface FactsInput {
  readonly server: Server;
  readonly policy: CleanupPolicy;
  /** What the attempt boots. */
  readonly boot: ServerBootConfiguration | undefined;
  readonly memory: ObservedSystem;
  readonly context: Pick<OperatorContext, 'config'>;
  readonly now: number;
}

/**
 * That the reset was asked for is written down with what the attempt boots, before that can be started: a process that
 * finds the boot knows that it takes the reset along, and one that finds none asks again, which changes nothing.
 */
export function biosFacts({ server, policy, boot, memory, context, now }: FactsInput): BiosFacts {
  if (policy.bios === 'None') return { kind: 'none' };
  const biosReset = ofThisAttempt(server, memory.biosReset);
  if (biosReset?.rejection !== undefined) return { kind: 'failed', message: biosReset.rejection };
  const order = boot === undefined ? biosReset?.order : biosOrderIn(boot);
  // What was prepared before anybody asked for a reset ends as it began.
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

/** What a person wants of the machine, or else what its first discovery saw. */
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
