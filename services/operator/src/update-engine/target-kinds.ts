import type { Cache } from '@metal/kube/cache/store.ts';
import type { OperatorCaches } from '../caches.ts';
import { bmcTarget, namesOf, rivalAmong, serverTarget, shardKeyOfServerUpdate } from './targets.ts';
import type { UpdateObject } from './types.ts';
import type { UpdateKind } from './update-kind.ts';

interface TargetKind<T extends UpdateObject> {
  /** Has an index by target: server or bmc. */
  readonly objectsIn: (caches: OperatorCaches) => Cache<T>;
  /** Name of the Server or BMC that an object changes. */
  readonly nameOf: (object: T) => string | undefined;
  /** Of several objects for one target, the one for the latest version has it; else the oldest. */
  readonly latestFirst: boolean;
}

type TargetMembers<T extends UpdateObject> = Pick<
  UpdateKind<T>,
  'targetOf' | 'rivalOf' | 'keysOfSameTarget' | 'keysOfBmc' | 'keysOfServer' | 'shardKey'
>;

/** Members of a kind whose objects change one server. */
export function serverTargets<T extends UpdateObject>(kind: TargetKind<T>): TargetMembers<T> {
  const { objectsIn, nameOf, latestFirst } = kind;
  const objectsOf = (server: string, caches: OperatorCaches) => objectsIn(caches).by('server', server);
  return {
    targetOf: (object, context) => serverTarget(nameOf(object), context),
    rivalOf: (object, { caches }) => rivalAmong(object, objectsOf(nameOf(object) ?? '', caches), { latestFirst }),
    keysOfSameTarget: (object, { caches }) => namesOf(objectsOf(nameOf(object) ?? '', caches)),
    keysOfBmc: (bmcName, { caches }) =>
      caches.servers.by('bmc', bmcName).flatMap(({ metadata }) => namesOf(objectsOf(metadata.name, caches))),
    keysOfServer: ({ metadata }, { caches }) => namesOf(objectsOf(metadata.name, caches)),
    shardKey: (object, context) => shardKeyOfServerUpdate(nameOf(object), context),
  };
}

/** Members of a kind whose objects change one BMC. */
export function bmcTargets<T extends UpdateObject>(kind: TargetKind<T>): TargetMembers<T> {
  const { objectsIn, nameOf, latestFirst } = kind;
  const objectsOf = (bmc: string, caches: OperatorCaches) => objectsIn(caches).by('bmc', bmc);
  return {
    targetOf: (object, context) => bmcTarget(nameOf(object), context),
    rivalOf: (object, { caches }) => rivalAmong(object, objectsOf(nameOf(object) ?? '', caches), { latestFirst }),
    keysOfSameTarget: (object, { caches }) => namesOf(objectsOf(nameOf(object) ?? '', caches)),
    keysOfBmc: (bmcName, { caches }) => namesOf(objectsOf(bmcName, caches)),
    keysOfServer: ({ spec }, { caches }) => namesOf(objectsOf(spec.bmcRef?.name ?? '', caches)),
    shardKey: (object) => nameOf(object) ?? '',
  };
}
