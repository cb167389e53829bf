import { hostOfServerAnnotation, retriedFailureAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { operationAnnotation, operations } from '@metal/api/wire/contract.ts';
import { isSameJson } from '@metal/kube/controller/status-diff.ts';
import { keyOf, type KubeObject } from '@metal/kube/kinds/kind.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { changedUpdates } from '../firmware/firmware-changes.ts';
import { backOffMs } from '../host/back-off.ts';
import type { FirmwareChanges, Retry } from '../provisioner/provisioner.ts';
import { done, failed, type StepResult } from '../provisioner/step-result.ts';
import {
  type FirmwareObject,
  hasOtherTarget,
  isAsWanted,
  isDone,
  isOf,
  isPublished,
  isUnderWay,
  kindOf,
  objectsOfHost,
  type WantedObject,
  wantedObjects,
} from './firmware-objects.ts';
import { explained, hasClaimedServer, markOf } from './host-objects.ts';
import { guard, type NativePass, objectsOf, uidOf, waiting, written } from './native-pass.ts';

/**
 * Changes settings and firmware of the machine by the operator's own objects. Those that are not wanted any more are deleted unless
 * they have sent something. Those that are done only compare from then on, until the published firmware has their change.
 */
export async function applyFirmware(pass: NativePass, changes: FirmwareChanges, retry: Retry): Promise<StepResult> {
  const { access, caches } = pass;
  const { server } = objectsOf(pass);
  if (server === undefined) return { kind: 'unregistered' };
  const wanted = wantedObjects(access.host, changes, { server, caches });
  const problem = problemOf(pass, server, wanted);
  if (problem !== undefined) return failed(problem);
  const ending = await endFirmware(pass, wanted);
  if (ending !== undefined) return ending;
  const failure = wanted.map((one) => failureOf(pass, one, retry)).find((one) => one !== undefined);
  if (failure !== undefined) return failure;
  for (const one of wanted) {
    const step = await advance(pass, server, one);
    if (step !== undefined) return step;
  }
  const open = wanted.flatMap(({ found }) => found ?? []).find((found) => !isDone(found));
  return open === undefined ? done : waiting(progressOf(open));
}

/** Ends what is not wanted any more; undefined when nothing of it goes on. */
export async function endFirmware(
  pass: NativePass,
  wanted: readonly WantedObject[] = [],
): Promise<StepResult | undefined> {
  const { access, caches } = pass;
  for (const object of objectsOfHost(access.host, objectsOf(pass).server, caches)) {
    const step = isWanted(object, wanted) ? undefined : await endObject(pass, object);
    if (step !== undefined) return step;
  }
  return undefined;
}

/** Deletes all objects of the host; undefined when they are gone. One that has sent something comes to its end first. */
export async function dropFirmware(pass: NativePass): Promise<StepResult | undefined> {
  const { access, caches } = pass;
  const [object] = objectsOfHost(access.host, objectsOf(pass).server, caches);
  return object === undefined ? undefined : remove(pass, object);
}

/** Deletes an object whose change is in the published firmware. Without it, an image that is still wanted would be installed again. */
export async function forgetPublished(pass: NativePass): Promise<void> {
  const { access, caches } = pass;
  const { server } = objectsOf(pass);
  if (server === undefined) return;
  const inventory = caches.inventories.get(server.metadata.name);
  const { spec, status } = caches.firmwareComponents.get(access.host.metadata) ?? {};
  const open = new Set(changedUpdates(spec?.updates ?? [], status?.updates).map(({ url }) => url));
  const over = objectsOfHost(access.host, server, caches).find(
    (object) =>
      isDone(object) &&
      object.spec.dryRun === true &&
      isPublished(object, inventory) &&
      !('image' in object.spec && open.has(object.spec.image.URI)),
  );
  if (over !== undefined) await remove(pass, over);
}

const isWanted = ({ kind, metadata }: FirmwareObject, wanted: readonly WantedObject[]): boolean =>
  wanted.some((one) => one.kind.kind === kind && one.name === metadata.name);

const named = ({ kind, metadata }: FirmwareObject): string => `${kind} ${metadata.name}`;
const progressOf = (object: FirmwareObject): string => `${named(object)}: ${explained(object, 'Ready')}`;

/** Objects and machines of others are left alone. */
function problemOf(pass: NativePass, { metadata, spec }: Server, wanted: readonly WantedObject[]): string | undefined {
  const { host } = pass.access;
  const foreign = wanted.flatMap(({ found }) => found ?? []).find((found) => !isOf(host, found));
  if (foreign !== undefined) return `${named(foreign)} is not of this host: delete it, or rename the host`;
  const { claim } = objectsOf(pass);
  const { serverClaimRef: holder } = spec;
  const isOthers = holder !== undefined && (claim === undefined || keyOf(holder) !== keyOf(claim.metadata));
  if (wanted.length === 0 || !isOthers) return undefined;
  return `Server ${metadata.name} is claimed by ${keyOf(holder)}: its settings and firmware are left alone`;
}

/** Nobody wants its change any more. */
async function endObject(pass: NativePass, object: FirmwareObject): Promise<StepResult | undefined> {
  const { state = '' } = object.status ?? {};
  if (!['Applied', 'Completed'].includes(state)) return remove(pass, object);
  return isDone(object) ? onlyCompare(pass, object) : waiting(progressOf(object));
}

async function remove({ client }: NativePass, object: FirmwareObject): Promise<StepResult> {
  if (object.metadata.deletionTimestamp !== undefined) return waiting(`${named(object)} is deleted`);
  if (isUnderWay(object)) return waiting(progressOf(object));
  await client.delete(kindOf(object), object.metadata, uidOf(object));
  return written(`${named(object)} is deleted`);
}

/** From now on the object only compares: somebody else may change the machine afterwards. */
async function onlyCompare({ client }: NativePass, object: FirmwareObject): Promise<StepResult | undefined> {
  if (object.spec.dryRun === true) return undefined;
  await client.mergePatch(kindOf(object), object.metadata, { spec: { dryRun: true } }, guard(object));
  return written();
}

/** A failure of what is wanted that is not tried again yet. */
function failureOf(pass: NativePass, { found, ...one }: WantedObject, retry: Retry): StepResult | undefined {
  const failure = found === undefined ? undefined : failureIn(found);
  if (found === undefined || failure === undefined || !isAsWanted(one, found)) return undefined;
  if (isRetried(found) || (retry.restartsAfterFailure && retryInMs(pass, failure) <= 0)) return undefined;
  return {
    kind: 'failed',
    message: `${named(found)}: ${failure.reason}: ${failure.message}`,
    knownForMs: Math.max(retryInMs(pass, failure), 1_000),
  };
}

type Failure = NonNullable<NonNullable<FirmwareObject['status']>['failure']>;

/** Of the present spec. */
const failureIn = ({ metadata, status }: FirmwareObject): Failure | undefined =>
  status?.state === 'Failed' && status.observedGeneration === metadata.generation ? status.failure : undefined;

const isRetried = ({ metadata, status }: FirmwareObject): boolean =>
  metadata.annotations?.[retriedFailureAnnotation] === status?.failure?.time;

/** A machine that may still install an image is for a person. */
function retryInMs({ access: { host }, clock }: NativePass, { time, holdsMaintenance }: Failure): number {
  if (holdsMaintenance === true) return minutes(10);
  return Date.parse(time) + backOffMs(host.status?.errorCount ?? 0, () => 0) - clock.now();
}

/** The next write for an object, if it needs one. */
async function advance(pass: NativePass, server: Server, one: WantedObject): Promise<StepResult | undefined> {
  const { client, access } = pass;
  const { kind, name, spec, found } = one;
  const wanted = { ...spec, serverMaintenancePolicy: policyOf(pass, server, one) };
  if (found === undefined) {
    if (!(await isStillOurs(pass, server))) return waiting(`Server ${server.metadata.name} has changed`);
    const metadata = { name, annotations: { [hostOfServerAnnotation]: markOf(access.host) } };
    const object = { metadata, spec: wanted };
    await client.create<KubeObject>(kind, object);
    return written(`${kind.kind} ${name} is created`);
  }
  const { metadata, status } = found;
  if (metadata.deletionTimestamp !== undefined || hasOtherTarget(one, found)) return remove(pass, found);
  const isSeen = status?.observedGeneration === metadata.generation;
  if (!isAsWanted(one, found) || (found.spec.dryRun === true && isSeen && !isDone(found))) {
    if (isUnderWay(found)) return waiting(progressOf(found));
    await client.mergePatch(kind, metadata, { spec: { ...wanted, dryRun: null } }, guard(found));
    return written(`${named(found)} is changed`);
  }
  if (isDone(found)) return onlyCompare(pass, found);
  const failure = failureIn(found);
  if (failure === undefined || isRetried(found)) return undefined;
  const annotations = { [operationAnnotation]: operations.retry, [retriedFailureAnnotation]: failure.time };
  await client.mergePatch(kind, metadata, { metadata: { annotations } }, guard(found));
  return written(`${named(found)} is tried again`);
}

/** By the API server: neither mark nor claim has changed. */
async function isStillOurs({ client, access }: NativePass, server: Server): Promise<boolean> {
  const found = await client.find(Server, { name: server.metadata.name });
  return (
    found?.metadata.annotations?.[hostOfServerAnnotation] === markOf(access.host) &&
    isSameJson(found.spec.serverClaimRef, server.spec.serverClaimRef)
  );
}

/**
 * The HostUpdatePolicy is the approval of a deployed host, and of nothing else: a label on its claim would approve maintenances of
 * others, too. Machines of others are not in maintenance without their owners.
 */
function policyOf(pass: NativePass, server: Server, { kind }: WantedObject): 'Enforced' | 'OwnerApproval' {
  const { claim, bmc } = objectsOf(pass);
  if (claim === undefined) return 'OwnerApproval';
  if (kind.kind !== 'BMCVersion' || bmc === undefined) return 'Enforced';
  return hasClaimedServer(bmc, pass.caches, server) ? 'OwnerApproval' : 'Enforced';
}
