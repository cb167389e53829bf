import type { OperatorContext } from '../controllers/context.ts';
import { conditionsOf } from '../controllers/ready-condition.ts';
import type { Compared } from './memory.ts';
import type { Target, UpdateFacts, UpdateObject } from './types.ts';

/** An update can wait for another one; settings do so without a maintenance of their own, unless the update that installs it has the server already. */
export function versionFacts(
  compared: Compared | undefined,
  target: Target,
  { caches }: OperatorContext,
): Pick<UpdateFacts, 'joinsWindow' | 'hasVersionArrived'> {
  const { version, firmwareVersion } = compared?.value.hold ?? {};
  if (firmwareVersion !== undefined) {
    const awaited = caches.firmwareVersions.get(firmwareVersion);
    const hasVersionArrived = awaited !== undefined && isCompletedSince(awaited, compared?.at ?? 0);
    return { joinsWindow: false, hasVersionArrived };
  }
  if (version === undefined) return { joinsWindow: false, hasVersionArrived: false };
  const { servers, bmcName } = target;
  const updates = [
    ...servers.flatMap(({ metadata }) => caches.biosVersions.by('server', metadata.name)),
    ...caches.bmcVersions.by('bmc', bmcName),
  ].filter(({ spec }) => spec.version === version);
  const isServed = (uid: string): boolean =>
    caches.maintenances
      .by('owner', uid)
      .some((one) => servers.some(({ spec }) => spec.serverMaintenanceRef?.name === one.metadata.name));
  return {
    joinsWindow: updates.some(({ metadata, status }) => status?.state === 'InProgress' && isServed(metadata.uid ?? '')),
    hasVersionArrived: updates.some((update) => isCompletedSince(update, compared?.at ?? 0)),
  };
}

type Version = UpdateObject & { readonly status?: { readonly state?: string | undefined } | undefined };

/** Times in a status are whole seconds. */
function isCompletedSince(update: Version, atMs: number): boolean {
  if (update.status?.state !== 'Completed') return false;
  const ready = conditionsOf(update).find(({ type }) => type === 'Ready');
  return ready?.status !== 'True' || Date.parse(ready.lastTransitionTime ?? '') + 1_000 > atMs;
}

/**
 * Two updates of one BMC with several servers could each get a part of them and wait for the other for ever: the younger one gives
 * its part back.
 */
export function reservedBy(
  object: UpdateObject,
  { servers, bmcName }: Target,
  { caches }: OperatorContext,
): string | undefined {
  if (servers.length < 2) return undefined;
  const holders = servers.flatMap(({ spec }) => {
    const holder = spec.serverMaintenanceRef && caches.maintenances.get(spec.serverMaintenanceRef);
    return holder?.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid ?? [];
  });
  const others = [...caches.bmcSettings.by('bmc', bmcName), ...caches.bmcVersions.by('bmc', bmcName)];
  const older = others.find(
    (other) =>
      holders.includes(other.metadata.uid ?? '') &&
      other.metadata.uid !== object.metadata.uid &&
      // One that gives its servers back waits for no other.
      other.metadata.deletionTimestamp === undefined &&
      !ended.includes(other.status?.state ?? '') &&
      isOlder(other, object),
  );
  if (older === undefined) return undefined;
  // One that has all of them waits for nobody: the younger may queue behind it.
  const hasAll = holders.filter((uid) => uid === older.metadata.uid).length === servers.length;
  return hasAll ? undefined : `${older.kind} ${older.metadata.name}`;
}

const ended: readonly string[] = ['Applied', 'Completed'];

function isOlder(one: { readonly metadata: UpdateObject['metadata'] }, other: UpdateObject): boolean {
  const [a, b] = [one.metadata, other.metadata];
  if (a.creationTimestamp !== b.creationTimestamp) return (a.creationTimestamp ?? '') < (b.creationTimestamp ?? '');
  return (a.uid ?? '') < (b.uid ?? '');
}
