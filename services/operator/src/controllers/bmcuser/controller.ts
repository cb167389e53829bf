import { isDeepStrictEqual } from 'node:util';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import { bmcUserFinalizer } from '@metal/api/wire/contract.ts';
import { controllerOf } from '@metal/kube/kinds/kind.ts';
import { shardKeyOfBmcUser } from '../../bmc-connections/shard-key.ts';
import type { OperatorContext } from '../context.ts';
import { bmcUserActions } from './actions.ts';
import { readBmcUserFacts } from './facts.ts';
import { ObservedAccount, observeBmcUser } from './observed-account.ts';
import { bmcUserTable, decideDeletion } from './table.ts';
import { bmcUserReasons } from './reasons.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { reportBmcUser } from './report.ts';

const nameOf = ({ metadata }: BMCUser): string => metadata.name;

export const bmcUserController = phaseController({
  name: 'bmc-user',
  kind: BMCUser,
  shardKey: shardKeyOfBmcUser,
  phaseOf: ({ status }) => status?.state ?? 'Pending',
  failurePhases: ['Error'],
  memory: () => new ObservedAccount(),
  observe: observeBmcUser,
  facts: readBmcUserFacts,
  table: bmcUserTable,
  reasons: bmcUserReasons,
  deletion: decideDeletion,
  finalizer: bmcUserFinalizer,
  actions: bmcUserActions,
  report: reportBmcUser,
  watches: [
    {
      kind: BMC,
      mapToKeys: (bmc: BMC, { caches }: OperatorContext) => caches.bmcUsers.by('bmc', bmc.metadata.name).map(nameOf),
      predicate: isAboutReach,
    },
    {
      kind: BMCSecret,
      mapToKeys: (secret: BMCSecret, { caches }: OperatorContext) => [
        ...caches.bmcUsers.by('secret', secret.metadata.name).map(nameOf),
        ...makerOf(secret),
      ],
    },
  ],
  sources: ({ bmcConnections, caches }: OperatorContext, enqueue) =>
    bmcConnections.bmcChanged.on((bmcName) => {
      for (const user of caches.bmcUsers.by('bmc', bmcName)) enqueue(nameOf(user));
    }),
  writes: ['bmcusers', 'bmcusers/status', 'bmcsecrets', 'bmcs'],
});

function makerOf(secret: BMCSecret): string[] {
  const owner = controllerOf(secret);
  return owner?.kind === BMCUser.kind ? [owner.name] : [];
}

/** Firmware versions, for one, do not concern accounts. */
function isAboutReach(before: BMC | undefined, after: BMC | undefined): boolean {
  return (
    before?.status?.state !== after?.status?.state ||
    before?.status?.manufacturer !== after?.status?.manufacturer ||
    !isDeepStrictEqual(before?.spec, after?.spec)
  );
}
