import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { operationAnnotation, operations, rolloutWaitAnnotation } from '@metal/api/wire/contract.ts';
import { rolloutWaitText } from '@metal/api/wire/rollout.ts';
import { controllerOf } from '@metal/kube/kinds/kind.ts';
import { RedfishError, type RedfishErrorCode } from '@metal/redfish/errors.ts';
import { findManager, resetManager } from '@metal/redfish/resources/managers.ts';
import { updateWasRefused } from '@metal/redfish/resources/update-service.ts';
import { StaleDecision } from '../errors.ts';
import { deadlineFailure } from './deadline.ts';
import type { UpdateAction } from './decisions.ts';
import { keepOn, releaseMaintenance, requestMaintenance, setPower, verifyMaintenance } from './maintenance-actions.ts';
import type { UpdateMemory } from './memory.ts';
import { inSession, type UpdateReconcile } from './reconcile.ts';
import { accept, findSent, pollMs, readTask, recordFailure, timeOf } from './task-actions.ts';
import type { Comparison, UpdateObject } from './types.ts';
import type { UpdateKind } from './update-kind.ts';

/** The actions of the engine for one kind. */
export function updateActions<T extends UpdateObject>(
  kind: UpdateKind<T>,
): Record<UpdateAction, (reconcile: UpdateReconcile<T>) => Promise<void>> {
  return {
    claimTarget: ({ object, context }) => kind.claimTarget?.(object, context) ?? Promise.resolve(),
    releaseTarget: ({ object, context }) => kind.releaseTarget?.(object, context) ?? Promise.resolve(),
    compare: (reconcile) => compare(kind, reconcile),
    readVariables: (reconcile) => readVariables(kind, reconcile),
    requestMaintenance: (reconcile) => requestMaintenance(kind, reconcile),
    releaseMaintenance,
    startAttempt: (reconcile) => startAttempt(kind, reconcile),
    resetBmcFirst: async (reconcile) => {
      await resetBmc(reconcile);
      reconcile.memory.attempt = { ...reconcile.memory.attempt, bmcResetTime: timeOf(reconcile.now) };
    },
    prepare: (reconcile) => prepare(kind, reconcile),
    recordIntent,
    apply: (reconcile) => apply(kind, reconcile),
    findSent: (reconcile) => findSent(kind, reconcile),
    readTask: (reconcile) => readTask(kind, reconcile),
    turnOff: (reconcile) => setPower(reconcile, 'Off'),
    turnOn: (reconcile) => setPower(reconcile, 'On'),
    recordOff: async ({ memory, now }) => {
      memory.attempt = { ...memory.attempt, powerOffTime: timeOf(now) };
    },
    recordRestart: async ({ memory, now }) => recordRestart(kind, memory, now),
    resetBmc: async (reconcile) => {
      await resetBmc(reconcile);
      recordRestart(kind, reconcile.memory, reconcile.now);
    },
    beginStep: async ({ memory, now }) => beginStep(kind, memory, now),
    endAttempt: async (reconcile) => endAttempt(reconcile),
    recordFailure: async (reconcile) => failAttempt(reconcile),
    beginRetry: (reconcile) => beginRetry(kind, reconcile),
    holdForRollout: (reconcile) => holdForRollout(kind, reconcile),
  };
}

/** Values that were read before the restart do not verify the change, and a machine that flashes has to start first. */
function recordRestart<T extends UpdateObject>({ isFlash }: UpdateKind<T>, memory: UpdateMemory, now: number): void {
  memory.attempt = { ...memory.attempt, resetTime: timeOf(now) };
  memory.compared = undefined;
  memory.resetPolls();
  if (isFlash) memory.polled(now, pollMs.first, pollMs.longest);
}

function failAttempt(reconcile: UpdateReconcile<UpdateObject>): void {
  const { object, facts, now } = reconcile;
  const overdue = deadlineFailure(facts);
  const problem = facts.comparison?.problem;
  if (overdue !== undefined) return recordFailure(reconcile, overdue, now);
  if (problem === undefined) throw new StaleDecision('the attempt can succeed again');
  // Comparisons are of the present spec, whatever the attempt is for.
  recordFailure(reconcile, problem, now, object.metadata.generation);
}

/** The drift itself is the reason of the transition that follows. */
function endAttempt({ memory }: UpdateReconcile<UpdateObject>): void {
  const { compared } = memory;
  memory.beginAttempt();
  memory.compared = compared;
}

/** The comparison that verified an image has not looked whether another one can be installed. */
function beginStep<T extends UpdateObject>({ isFlash }: UpdateKind<T>, memory: UpdateMemory, now: number): void {
  const isVerified = memory.attempt.resetTime !== undefined;
  memory.beginStep();
  // The next step has all of its time.
  if (isVerified) memory.attempt = { ...memory.attempt, startTime: timeOf(now) };
  if (isFlash) memory.compared = undefined;
}

async function compare<T extends UpdateObject>(kind: UpdateKind<T>, reconcile: UpdateReconcile<T>): Promise<void> {
  const { memory, object, context } = reconcile;
  memory.isComparing = true;
  const found = await inSession(reconcile, (session) => kind.compare(session));
  memory.isComparing = false;
  const at = context.clock.now();
  const value = withoutRepetition(found, memory);
  const hasNewDesired = memory.desired !== undefined && memory.desired !== value.desired;
  memory.compared = { value, at, generation: object.metadata.generation ?? 0, hasNewDesired };
  memory.desired = value.desired;
  memory.variablesReadAt = at;
  memory.polled(at, pollMs.first, pollMs.longest);
}

/** Another desired state is compared at once. */
async function readVariables<T extends UpdateObject>(
  kind: UpdateKind<T>,
  { memory, object, context }: UpdateReconcile<T>,
): Promise<void> {
  const desired = await kind.readDesired?.(object, context);
  memory.variablesReadAt = context.clock.now();
  if (desired !== memory.desired) memory.compared = undefined;
}

/** Steps that undo each other would restart the machine for ever. */
function withoutRepetition(comparison: Comparison, { attempt, verifiedSteps }: UpdateMemory): Comparison {
  const undone = comparison.steps.find(({ name }) => verifiedSteps.includes(name));
  if (undone === undefined || comparison.desired !== attempt.desired) return comparison;
  const message = `a later step undid ${undone.changes[0]?.name ?? ''} of step ${undone.name}; correct the settings, then retry`;
  return { ...comparison, problem: { reason: 'VerificationFailed', message } };
}

/** The maintenance is granted: an image is compared again, and settings unless something had to be waited for. */
async function startAttempt<T extends UpdateObject>(
  { isFlash }: UpdateKind<T>,
  reconcile: UpdateReconcile<T>,
): Promise<void> {
  const { object, facts, memory, now } = reconcile;
  // Whether something has to be sent before the machine is on is not known without a comparison.
  if (facts.comparison !== undefined && facts.comparison.isPrepared !== false) await keepOn(reconcile);
  const { compared } = memory;
  memory.beginAttempt();
  if (!isFlash && compared?.value.hold === undefined) memory.compared = compared;
  const { generation } = object.metadata;
  memory.attempt = { desired: facts.comparison?.desired, generation, startTime: timeOf(now) };
}

/** The reconcile ends after this: the status has the intent before the change is sent. */
async function recordIntent({ object, facts, memory, now }: UpdateReconcile<UpdateObject>): Promise<void> {
  const [step] = facts.comparison?.steps ?? [];
  if (step === undefined) throw new StaleDecision('there is nothing to change');
  const { name, restart } = step;
  const { generation } = object.metadata;
  memory.attempt = { ...memory.attempt, generation, step: name, restart, sendTime: timeOf(now) };
  memory.sending = 'intended';
  memory.resetPolls();
}

async function apply<T extends UpdateObject>(kind: UpdateKind<T>, reconcile: UpdateReconcile<T>): Promise<void> {
  const { facts, memory, context } = reconcile;
  const step = facts.comparison?.steps.find(({ name }) => name === memory.attempt.step);
  if (step === undefined) throw new StaleDecision('the step has no differences any more');
  await verifyMaintenance(reconcile);
  memory.sending = 'sent';
  try {
    const accepted = await inSession(reconcile, (session) => kind.apply(session, step));
    if (accepted === undefined) return withdrawIntent(memory);
    accept(memory, accepted, context.clock.now(), { isInstalled: accepted.task === undefined && !kind.isFlash });
  } catch (error) {
    if (!(error instanceof StaleDecision) && !updateWasRefused(error)) throw error;
    memory.sending = 'intended';
    recordRejection(kind, reconcile, error);
  }
}

/** For example after a start of the machine: a comparison shows what is left, and no restart is needed for this step. */
function withdrawIntent(memory: UpdateMemory): void {
  memory.beginStep();
  memory.compared = undefined;
}

async function prepare<T extends UpdateObject>(kind: UpdateKind<T>, reconcile: UpdateReconcile<T>): Promise<void> {
  await verifyMaintenance(reconcile);
  try {
    await inSession(reconcile, async (session) => kind.prepare?.(session));
    reconcile.memory.compared = undefined;
  } catch (error) {
    if (!updateWasRefused(error)) throw error;
    recordRejection(kind, reconcile, error);
  }
}

function recordRejection<T extends UpdateObject>(
  { isFlash }: UpdateKind<T>,
  reconcile: UpdateReconcile<T>,
  error: unknown,
): void {
  if (!(error instanceof Error) || isPassing(error)) throw error;
  const reason = isFlash ? 'UpgradeIssueFailed' : 'SettingsRejected';
  const message = `the BMC rejects the change: ${error.message}`;
  recordFailure(reconcile, { reason, message }, reconcile.context.clock.now());
}

const passing: readonly RedfishErrorCode[] = [
  'Busy',
  'CircuitOpen',
  'HandedOver',
  'TlsUntrusted',
  'CertificateChanged',
  'AuthenticationFailed',
];
/** Tried again by itself. */
const isPassing = (error: Error): boolean =>
  error instanceof StaleDecision || (error instanceof RedfishError && passing.includes(error.code));

/** The BMC controller restarts a BMC by annotation; an inline BMC has no object to annotate. */
async function resetBmc<T extends UpdateObject>(reconcile: UpdateReconcile<T>): Promise<void> {
  const { facts, context, signal } = reconcile;
  const { bmc, bmcName } = facts.target;
  if (bmc !== undefined) {
    const { resourceVersion } = bmc.metadata;
    const annotations = { [operationAnnotation]: operations.gracefulRestartBmc };
    // Guarded: an operation that somebody requests meanwhile is not overwritten.
    await context.client.mergePatch(BMC, { name: bmcName }, { metadata: { annotations } }, { resourceVersion });
    return;
  }
  await inSession(reconcile, async (session) => {
    const manager = await findManager(session.bmc, undefined, { signal });
    if (manager !== undefined) await resetManager(session.bmc, manager.uri, 'GracefulRestart');
  });
}

/** Counts automatic retries; one on request, or after a correction, begins to count anew. */
async function beginRetry<T extends UpdateObject>(
  { kind }: UpdateKind<T>,
  { object, facts, memory, context }: UpdateReconcile<T>,
): Promise<void> {
  const isAutomatic = facts.retry === undefined && !facts.isCorrected;
  if (facts.retry !== undefined) {
    const { name, resourceVersion } = object.metadata;
    const patch = { metadata: { annotations: { [operationAnnotation]: null } } };
    await context.client.mergePatch(kind, { name }, patch, { resourceVersion });
  }
  memory.beginAttempt();
  memory.failedAttempts = isAutomatic ? memory.failedAttempts + 1 : 0;
  memory.retriedBy = facts.retry;
}

/** Guarded. Its set starts it when the rollout lets it. */
async function holdForRollout<T extends UpdateObject>(
  { kind }: UpdateKind<T>,
  { object, context }: UpdateReconcile<T>,
): Promise<void> {
  const set = controllerOf(object);
  if (set === undefined) throw new StaleDecision('the object belongs to no set any more');
  const { name, resourceVersion } = object.metadata;
  const annotations = { [rolloutWaitAnnotation]: rolloutWaitText(set) };
  await context.client.mergePatch(kind, { name }, { metadata: { annotations } }, { resourceVersion });
}
