import { RedfishError } from '@metal/redfish/errors.ts';
import { readRunningUpdates } from '@metal/redfish/resources/update-tasks.ts';
import { readUpdateService, startUpdate, type UpdateServiceInfo } from '@metal/redfish/resources/update-service.ts';
import type { OperatorContext } from '../controllers/context.ts';
import { condition, type Explanation, type ReportedCondition } from '../controllers/ready-condition.ts';
import { imageFor, imageSecrets, requestIn } from './images.ts';
import { findSent } from './sent-updates.ts';
import type { Accepted, Comparison, Hold, UpdateFacts, VersionObject } from './types.ts';
import type { Session, UpdateKind } from './update-kind.ts';
import { desiredOf, type Installed, isOutdated, type VersionPart } from './version-part.ts';

/** Kinds that install firmware from an image: compare versions, send the image, follow the task. */
export function versionKind<T extends VersionObject>(part: VersionPart<T>): UpdateKind<T> {
  return {
    ...part,
    done: 'Completed',
    isFlash: true,
    needsHostOn: true,
    timeoutMs: ({ config }: OperatorContext) => config.firmwareUpdateTimeoutMs,
    compare: (session) => compare(part, session),
    apply: (session) => apply(part, session),
    findSent: (session) => findSent(part, session),
    secretsOf: imageSecrets,
    conditions: (object, facts, isDone) => [
      ...versionConditions(object, facts, isDone),
      ...part.conditions(object, facts),
    ],
  };
}

async function compare<T extends VersionObject>(part: VersionPart<T>, session: Session<T>): Promise<Comparison> {
  const { object } = session;
  const { version } = object.spec;
  const desired = desiredOf(object);
  const installed = await part.readInstalled(session);
  if ('reason' in installed) return { desired, steps: [], problem: installed };
  const outdated = installed.filter((one) => isOutdated(one, session));
  const found = {
    desired,
    installedVersion: textOf(installed),
    components: installed.flatMap(({ component }) => component ?? []),
  };
  if (outdated.length === 0) return { ...found, steps: [] };
  const changes = outdated.map((one) => ({
    name: one.name,
    ...(one.version === undefined ? {} : { from: one.version }),
    to: version === '' ? 'the version of the image' : version,
  }));
  const common = { ...found, steps: [{ name: '', changes, restart: part.restartOf(object) }] };
  return session.isSent ? common : { ...common, ...(await checkBefore(part, session, installed)) };
}

/** Several components of one kind usually have one version. */
const textOf = (installed: readonly Installed[]): string | undefined =>
  [...new Set(installed.flatMap(({ version }) => version ?? []))].join(', ') || undefined;

/** First the updates that the BMC runs: one may be of an earlier attempt. Then the causes for which the installation would fail. */
async function checkBefore<T extends VersionObject>(
  { holdOf }: VersionPart<T>,
  session: Session<T>,
  installed: readonly Installed[],
): Promise<Pick<Comparison, 'problem' | 'hold' | 'notes'>> {
  const { bmc, signal, object } = session;
  const running = await runningUpdate(session);
  if (running !== undefined) return { hold: running };
  const service = await readUpdateService(bmc, { signal });
  const problem = serviceProblem(service, object);
  if (problem !== undefined) return { problem };
  const { check } = await imageFor(session, service);
  if (check.kind === 'Refused') return { problem: { reason: 'ImageRefused', message: check.message } };
  const notes =
    check.kind === 'NotChecked' ? [{ type: 'ImageNotChecked', reason: 'ImageNotChecked', message: check.reason }] : [];
  if (check.kind === 'Checking') return { notes, hold: { reason: 'ImageChecking', message: check.message } };
  return { notes, hold: holdOf?.(session, installed) };
}

function serviceProblem(service: UpdateServiceInfo | undefined, { spec }: VersionObject): Explanation | undefined {
  const unsupported = (message: string): Explanation => ({ reason: 'UpdateNotSupported', message });
  if (service === undefined || (!service.canPull && !service.canPush))
    return unsupported('the BMC has no UpdateService that takes images');
  const delivery = spec.image.delivery ?? 'Auto';
  if (delivery === 'Push' && !service.canPush)
    return unsupported('the BMC takes no image by push; set spec.image.delivery to BMC');
  if ((delivery === 'BMC' || delivery === 'Proxy') && !service.canPull)
    return unsupported('the BMC fetches no images; set spec.image.delivery to Push');
  const { transferProtocols } = service;
  const wanted = spec.image.transferProtocol ?? '';
  if (wanted !== '' && transferProtocols.length > 0 && !transferProtocols.includes(wanted))
    return unsupported(
      `the BMC does not offer transfer protocol "${wanted}"; expected one of ${transferProtocols.join(', ')}`,
    );
  return undefined;
}

async function runningUpdate<T extends VersionObject>({ bmc, signal }: Session<T>): Promise<Hold | undefined> {
  const [running] = await readRunningUpdates(bmc, { signal });
  if (running === undefined) return undefined;
  return { reason: 'OtherUpdateRuns', message: `the BMC runs another update: task ${running.task}` };
}

async function apply<T extends VersionObject>(part: VersionPart<T>, session: Session<T>): Promise<Accepted> {
  const { bmc, object, signal } = session;
  const installed = await part.readInstalled(session);
  if ('reason' in installed) throw new RedfishError({ code: 'NotSupported', message: installed.message });
  const outdated = installed.filter((one) => isOutdated(one, session));
  // Without targets the image would go to everything that it fits.
  if (outdated.length === 0) return {};
  const service = await readUpdateService(bmc, { signal });
  if (service === undefined) throw new RedfishError({ code: 'NotSupported', message: 'the BMC has no UpdateService' });
  const request = requestIn(await imageFor(session, service));
  const targets = [...outdated.flatMap(({ uri }) => uri ?? []), ...((await part.targetsOf?.(session)) ?? [])];
  const force = object.spec.updatePolicy === 'Force';
  return startUpdate(bmc, { ...request, component: part.component, targets, force }, { service });
}

/** Types and reasons of v0.7.0. */
function versionConditions(object: VersionObject, facts: UpdateFacts, isDone: boolean): ReportedCondition[] {
  const { attempt, task, failure } = facts;
  const conditions: ReportedCondition[] = [];
  const add = (type: string, status: 'True' | 'False', reason: string, message: string): void =>
    void conditions.push(condition(object, type, status, { reason, message }));
  if (failure?.reason === 'UpgradeIssueFailed')
    add('VersionUpgradeIssued', 'False', 'UpgradeIssueFailed', failure.message);
  else if (attempt.acceptTime !== undefined)
    add('VersionUpgradeIssued', 'True', 'UpgradeIssued', 'the BMC accepted the update');
  if (failure?.reason === 'UpgradeTaskFailed')
    add('VersionUpgradeCompleted', 'True', 'UpgradeTaskFailed', failure.message);
  else if (attempt.installTime !== undefined)
    add('VersionUpgradeCompleted', 'True', 'UpgradeTaskCompleted', 'the BMC installed the image');
  else if (attempt.acceptTime !== undefined)
    add('VersionUpgradeCompleted', 'False', stateReason(task?.state), `${task?.percentageComplete ?? 0} percent`);
  if (isDone && attempt.acceptTime !== undefined)
    add('VersionUpgradeVerification', 'True', 'VersionUpdateVerified', 'the BMC reports the version');
  else if (failure?.reason === 'VerificationFailed')
    add('VersionUpgradeVerification', 'False', 'VersionVerificationFailed', failure.message);
  return conditions;
}

/** A reason of a condition is a word: a state that is none, or that the BMC does not report, is Unknown. */
export const stateReason = (state: string | undefined): string =>
  /^[A-Za-z][A-Za-z0-9]*$/.test(state ?? '') ? (state ?? '') : 'Unknown';
