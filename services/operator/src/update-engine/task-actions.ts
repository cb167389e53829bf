import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { readUpdateTask, type UpdateProgress } from '@metal/redfish/resources/update-tasks.ts';
import type { UpdateMemory } from './memory.ts';
import { inSession, type UpdateReconcile } from './reconcile.ts';
import { shortened } from './settings-changes.ts';
import type { Accepted, UpdateObject, UpdateStatus } from './types.ts';
import type { UpdateKind } from './update-kind.ts';

/** Actions after a change was sent: what became of it. */

export const pollMs = { first: seconds(1), longest: seconds(30) };
/** A change without a response is looked for this long before it is sent again. */
const searchMs = seconds(60);
/** A BMC that shows neither a task nor a written image has installed it after this time, or failed to. */
const installMs = minutes(20);

export const timeOf = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** By default the failure belongs to the spec that the attempt is for: one that was changed since is tried. */
export function recordFailure(
  { object, memory }: Pick<UpdateReconcile<UpdateObject>, 'object' | 'memory'>,
  { reason, message, holdsMaintenance }: Omit<NonNullable<UpdateStatus['failure']>, 'time'>,
  now: number,
  generation = memory.attempt.generation ?? object.metadata.generation,
): void {
  memory.failedGeneration = generation;
  memory.failure = { reason, message, time: timeOf(now), ...(holdsMaintenance === true ? { holdsMaintenance } : {}) };
}

/** A BMC that accepts an image without a task may install it for minutes. */
export function accept(
  memory: UpdateMemory,
  { task }: Accepted,
  now: number,
  { isInstalled }: { readonly isInstalled: boolean },
): void {
  const time = timeOf(now);
  memory.attempt = { ...memory.attempt, acceptTime: time, ...(isInstalled ? { installTime: time } : {}) };
  memory.task = task === undefined ? undefined : newTask(task);
  memory.sending = undefined;
  memory.compared = undefined;
  memory.resetPolls();
  // A task that has just begun has not ended.
  if (task !== undefined) memory.polled(now, pollMs.first, pollMs.longest);
}

const newTask = (URI: string) => ({ URI, state: 'New', percentageComplete: 0 });

export async function findSent<T extends UpdateObject>(
  kind: UpdateKind<T>,
  reconcile: UpdateReconcile<T>,
): Promise<void> {
  const { facts, memory, context } = reconcile;
  const found = await inSession(reconcile, (session) => kind.findSent(session, memory.attempt.step ?? ''));
  const now = context.clock.now();
  if (found !== undefined) return accept(memory, found, now, { isInstalled: found.task === undefined });
  if (!kind.isFlash || facts.sentMsAgo > searchMs) memory.beginStep();
  else memory.polled(now, pollMs.first, pollMs.longest);
}

export async function readTask<T extends UpdateObject>(
  kind: UpdateKind<T>,
  reconcile: UpdateReconcile<T>,
): Promise<void> {
  const { memory, context, signal } = reconcile;
  const uri = memory.task?.URI;
  const progress =
    uri === undefined
      ? undefined
      : await inSession(reconcile, async (session) => {
          const secrets = await kind.secretsOf?.(session);
          return readUpdateTask(session.bmc, uri, { signal, secrets });
        });
  const now = context.clock.now();
  memory.polled(now, pollMs.first, pollMs.longest);
  if (progress !== undefined) memory.task = taskOf(progress, memory.task?.state);
  const isInstalled = memory.attempt.installTime !== undefined;
  if (progress === undefined || progress.kind === 'Gone')
    return isInstalled ? undefined : findInstalled(kind, reconcile);
  // Some BMCs end the task only when the restart has activated the image.
  if (progress.kind === 'Running' && !progress.awaitsReset) return;
  if (progress.kind === 'Failed') {
    const why = progress.messages.join('; ') || `task state ${progress.state ?? 'unknown'}`;
    const message = shortened(`the BMC did not install the image: ${why}`);
    recordFailure(reconcile, { reason: 'UpgradeTaskFailed', message }, now);
    return;
  }
  if (!isInstalled) recordInstallation(memory, now);
}

/** Without a task, only other tasks and versions show whether the image is installed: a restart could interrupt it. */
async function findInstalled<T extends UpdateObject>(
  kind: UpdateKind<T>,
  reconcile: UpdateReconcile<T>,
): Promise<void> {
  const { facts, memory, context } = reconcile;
  const found = await inSession(reconcile, (session) => kind.findSent(session, memory.attempt.step ?? ''));
  if (found?.task !== undefined) memory.task = newTask(found.task);
  else if (found !== undefined || facts.sentMsAgo > installMs) recordInstallation(memory, context.clock.now());
}

function taskOf(
  { kind, task, state, status, percent }: UpdateProgress,
  before: string | undefined,
): NonNullable<UpdateStatus['upgradeTask']> {
  // A BMC that has just begun a task may report it without a state.
  const reported = state === '' ? undefined : state;
  const stateOf = { Running: before, Completed: 'Completed', Failed: 'Exception', Gone: undefined } as const;
  return {
    URI: task,
    state: reported ?? stateOf[kind],
    status,
    percentageComplete: percent === undefined ? undefined : Math.round(percent),
  };
}

function recordInstallation(memory: UpdateMemory, now: number): void {
  memory.attempt = { ...memory.attempt, installTime: timeOf(now) };
  memory.compared = undefined;
  memory.resetPolls();
}
