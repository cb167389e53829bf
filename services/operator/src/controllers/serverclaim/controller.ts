import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { claimFinalizer } from '@metal/api/wire/contract.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import { controllerOf, keyOf, type KubeObject } from '@metal/kube/kinds/kind.ts';
import type { OperatorContext } from '../context.ts';
import { conditionsOf } from '../ready-condition.ts';
import { claimActions } from './actions.ts';
import { readClaimFacts } from './facts.ts';
import { claimTable, decideDeletion } from './table.ts';
import { claimReasons } from './reasons.ts';
import { reportClaim } from './report.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { schedulerSource } from './sources.ts';

export const claimController = phaseController({
  name: 'serverclaim',
  kind: ServerClaim,
  phaseOf: ({ status }: ServerClaim) =>
    status?.phase === 'Bound' || status?.phase === 'Lost' ? status.phase : 'Unbound',
  failurePhases: ['Lost'],
  facts: readClaimFacts,
  table: claimTable,
  reasons: claimReasons,
  finalizer: claimFinalizer,
  deletion: decideDeletion,
  actions: claimActions,
  readOnlyActions: ['shareMatchLevel'],
  report: reportClaim,
  // A new claim is Unbound, with or without a status.
  progressFields: ['phase', 'addresses'],
  paused: isPaused,
  watches: [
    { kind: Server, mapToKeys: claimsOfServer },
    { kind: ServerBootConfiguration, mapToKeys: claimsOfBoot },
    {
      kind: ServerMaintenance,
      mapToKeys: ({ spec }: ServerMaintenance, context: OperatorContext) => {
        const server = context.caches.servers.get(spec.serverRef.name);
        return server === undefined ? [] : claimsOfServer(server, context);
      },
    },
    // Its messages have the reason of the BMC.
    { kind: BMC, mapToKeys: claimsOfBmc, predicate: (before, after) => readyReasonOf(before) !== readyReasonOf(after) },
  ],
  sources: schedulerSource,
  writes: ['patch:serverclaims', 'serverclaims/status', 'patch:servers', 'serverbootconfigurations'],
  concurrency: ({ config }: OperatorContext) => config.claimConcurrency,
});

/** The claim that the server refers to, and claims that still name a server that was taken from them. */
function claimsOfServer({ metadata, spec }: Server, { caches }: OperatorContext): string[] {
  const ref = spec.serverClaimRef;
  const named = caches.claims.by('server', metadata.name).map(keyOf);
  return ref === undefined ? named : [...named, `${ref.namespace}/${ref.name}`];
}

function readyReasonOf(bmc: KubeObject | undefined): string | undefined {
  return bmc && conditionsOf(bmc).find(({ type }) => type === 'Ready')?.reason;
}

function claimsOfBmc({ metadata }: BMC, { caches }: OperatorContext): string[] {
  const refs = caches.servers.by('bmc', metadata.name).flatMap(({ spec }) => spec.serverClaimRef ?? []);
  return refs.map(({ namespace, name }) => `${namespace}/${name}`);
}

function claimsOfBoot(boot: ServerBootConfiguration): string[] {
  const owner = controllerOf(boot);
  return owner?.kind === 'ServerClaim' ? [keyOf({ namespace: boot.metadata.namespace, name: owner.name })] : [];
}
