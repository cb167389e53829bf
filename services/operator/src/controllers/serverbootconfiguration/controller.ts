import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import { shardKeyOfServer } from '../../bmc-connections/shard-key.ts';
import type { OperatorContext } from '../context.ts';
import { type BootPhase, readBootConfigurationFacts } from './facts.ts';
import { bootTable } from './table.ts';
import { bootConfigurationReasons } from './reasons.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { reportBootConfiguration } from './report.ts';

export const bootConfigurationController = phaseController({
  name: 'serverbootconfiguration',
  kind: ServerBootConfiguration,
  shardKey: keyOfBoot,
  phaseOf: ({ status }: ServerBootConfiguration): BootPhase =>
    status?.state === 'Ready' || status?.state === 'Error' ? 'Answered' : 'Unanswered',
  facts: readBootConfigurationFacts,
  table: bootTable,
  reasons: bootConfigurationReasons,
  actions: {},
  report: reportBootConfiguration,
  watches: [
    {
      kind: Server,
      mapToKeys: (server: Server, { caches }: OperatorContext) =>
        caches.bootConfigurations.by('server', server.metadata.name).map(keyOf),
      predicate: (before, after) => before === undefined || after === undefined,
    },
  ],
  writes: ['serverbootconfigurations/status'],
});

/** The shard of its server, as long as that exists. */
function keyOfBoot({ spec }: ServerBootConfiguration, { caches }: OperatorContext): string {
  const { name } = spec.serverRef;
  return shardKeyOfServer(caches.servers.get(name) ?? { metadata: { name } });
}
