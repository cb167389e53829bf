import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import { shardKeyOfEndpoint } from '../../bmc-connections/shard-key.ts';
import type { OperatorContext } from '../context.ts';
import { macIdentityOf } from '@metal/api/mac-address.ts';
import { endpointActions } from './actions.ts';
import { readEndpointFacts } from './facts.ts';
import { EndpointMemory } from './memory.ts';
import { endpointTable } from './table.ts';
import { endpointReasons } from './reasons.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { reportEndpoint } from './report.ts';

export const endpointController = phaseController({
  name: 'endpoint',
  kind: Endpoint,
  shardKey: shardKeyOfEndpoint,
  phaseOf: () => 'Present',
  memory: (endpoint, context: OperatorContext) => new EndpointMemory(endpoint, context),
  facts: readEndpointFacts,
  table: endpointTable,
  actions: endpointActions,
  report: reportEndpoint,
  reasons: endpointReasons,
  paused: isPaused,
  watches: [
    { kind: Endpoint, mapToKeys: duplicatesOfEndpoint },
    {
      kind: BMC,
      mapToKeys: (bmc: BMC) => [bmc.metadata.name],
      predicate: (before, after) => before === undefined || after === undefined,
    },
    {
      kind: BMCSecret,
      mapToKeys: (secret: BMCSecret) => [secret.metadata.name],
      predicate: (before, after) => before === undefined || after === undefined,
    },
  ],
  sources: ({ discoveryLimiter }: OperatorContext, enqueue) => discoveryLimiter.admitted.on(enqueue),
  writes: ['endpoints', 'endpoints/status', 'bmcs', 'bmcsecrets'],
});

/** An Endpoint that is created, deleted or changes its MAC address may make another one the oldest of its duplicates. */
function duplicatesOfEndpoint({ metadata, spec }: Endpoint, { caches }: OperatorContext): string[] {
  const duplicates = caches.endpoints.by('mac', macIdentityOf(spec?.macAddress) ?? '');
  return duplicates.map((duplicate) => duplicate.metadata.name).filter((name) => name !== metadata.name);
}
