import { signedJson } from '@metal/api/signed-json.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { bootlessName, ErasureReport, waiverName } from '@metal/api/v1alpha1/erasure-report.ts';
import { waiveCleanupAnnotation } from '@metal/api/wire/contract.ts';
import { isNotFound, KubeError } from '@metal/kube/errors.ts';
import { StaleDecision } from '../../../errors.ts';
import { memoryOf, patchGuarded, type ServerReconcile } from '../machine.ts';
import { bmcMarksOf } from './bmc-mark.ts';
import { certificateOf, foundOf } from './certificate.ts';
import { signingKeyIn } from './signing-key.ts';

/** An attempt without a boot has nothing to erase. The operator writes its record instead of the registry. */
export async function recordCleanup(reconcile: ServerReconcile): Promise<void> {
  const { object, facts } = reconcile;
  const { attempt } = facts.cleanup;
  const neededSince = object.status?.cleanup?.neededSince;
  if (neededSince === undefined || attempt === 0) throw new StaleDecision('the attempt is over');
  await record(reconcile, bootlessName(object.metadata.name, neededSince, attempt), { attempt, state: 'Succeeded' });
}

/** Keeps the mark of a deleted Server at its BMC object: discovery may create another Server of the machine at once. */
export async function writeBmcMark(reconcile: ServerReconcile): Promise<boolean> {
  const { object, facts, context } = reconcile;
  const marks = bmcMarksOf(object, memoryOf(reconcile)).own;
  const bmc = object.spec.bmcRef && context.caches.bmcs.get(object.spec.bmcRef.name);
  if (!facts.cleanup.needed || marks.length === 0 || bmc === undefined) return false;
  const since = object.status?.cleanup?.neededSince ?? new Date(context.clock.now()).toISOString();
  try {
    await context.client.mergePatch(BMC, bmc.metadata, { metadata: { annotations: annotationsOf(marks, since) } });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** The server is in Cleanup, so its own status has the mark. */
export async function removeBmcMark(reconcile: ServerReconcile): Promise<void> {
  const { object, context } = reconcile;
  const marks = bmcMarksOf(object, memoryOf(reconcile)).all;
  const name = object.spec.bmcRef?.name;
  if (object.status?.cleanup?.neededSince === undefined || marks.length === 0 || name === undefined)
    throw new StaleDecision('its own mark is not written');
  await context.client.mergePatch(BMC, { name }, { metadata: { annotations: annotationsOf(marks, null) } });
}

const annotationsOf = (marks: readonly string[], value: string | null): Record<string, string | null> =>
  Object.fromEntries(marks.map((mark) => [mark, value]));

/**
 * One guarded write adds the results and the signed certificate to the record of the attempt, so that the certificate
 * matches the record. The server becomes Available after this write.
 */
export async function certifyCleanup(reconcile: ServerReconcile): Promise<void> {
  const { object, facts, context } = reconcile;
  const { client, config, clock } = context;
  const report = facts.cleanup.record;
  if (report === undefined) throw new StaleDecision('the record of the attempt is gone');
  const found = foundOf(facts.cleanup);
  const issued = { at: new Date(clock.now()).toISOString(), namespace: config.managerNamespace };
  const key = await signingKeyIn(client, config.managerNamespace);
  const certificate = signedJson(certificateOf({ server: object, report, found, issued }), key);
  const { name, resourceVersion } = report.metadata;
  const status = { status: { ...found, certificate } };
  await client.mergePatch(ErasureReport, { name }, status, { subresource: 'status', resourceVersion });
}

/**
 * Writes the record before it removes the annotation: the record is what clears the server, and a process that takes over
 * after a crash finds it. The name of the record contains the time of the mark, so each need has one waiver.
 */
export async function recordWaiver(reconcile: ServerReconcile): Promise<void> {
  const { object, facts } = reconcile;
  const { cleanup } = object.status ?? {};
  const text = facts.cleanup.waiver;
  if (text === undefined || cleanup?.neededSince === undefined) throw new StaleDecision('there is nothing to waive');
  const attempt = cleanup.attempt ?? cleanup.failedAttempts ?? 0;
  await record(reconcile, waiverName(object.metadata.name, cleanup.neededSince), {
    attempt,
    state: 'Waived',
    message: text,
  });
  await patchGuarded(reconcile, withoutWaiver);
  reconcile.recordEvent({
    type: 'Warning',
    reason: 'CleanupWaived',
    action: 'WaiveCleanup',
    note: `It was not cleaned up, and goes to the next claim as it is: ${text}`.slice(0, 1_000),
  });
}

/** A waiver is valid only after a cleanup was needed, and only with a text that names its author and reason. */
export async function dropWaiver(reconcile: ServerReconcile): Promise<void> {
  await patchGuarded(reconcile, withoutWaiver);
  const state = reconcile.object.status?.state ?? 'Initial';
  reconcile.warn(
    'WaiverDropped',
    `A cleanup is waived in state Cleanup, or in Error after one, by "who and why"; it was in state ${state}, with "${reconcile.facts.cleanup.waiver ?? ''}"`,
  );
}

const withoutWaiver = { metadata: { annotations: { [waiveCleanupAnnotation]: null } } };

type Recorded = Pick<ErasureReport['spec'], 'attempt' | 'state' | 'message'>;

/** An existing record was written before an interruption. */
async function record({ object, facts, context }: ServerReconcile, name: string, recorded: Recorded): Promise<void> {
  const { metadata, spec, status } = object;
  const { formerClaim } = status?.cleanup ?? {};
  const report: ErasureReport['spec'] = {
    serverRef: { name: metadata.name, uid: metadata.uid ?? '' },
    systemUUID: spec.systemUUID.toLowerCase(),
    ...(status?.serialNumber === undefined ? {} : { serialNumber: status.serialNumber }),
    ...(formerClaim === undefined ? {} : { formerClaim }),
    mode: facts.cleanup.policy.disks,
    receivedTime: new Date(context.clock.now()).toISOString(),
    ...recorded,
  };
  try {
    await context.client.create(ErasureReport, { metadata: { name }, spec: report });
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'AlreadyExists') throw error;
  }
}
