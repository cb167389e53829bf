import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import { phaseController } from '@metal/kube/controller.ts';
import { keyOfEndpoint } from '../../bmc-key.ts';
import type { OperatorContext } from '../../context.ts';
import { macIdentityOf } from '../../mac-address.ts';
import { endpointActions } from './actions.ts';
import { readEndpointFacts } from './facts.ts';
import { endpointPhases } from './phases.ts';
import { endpointReasons } from './reasons.ts';
import { reportEndpoint } from './report.ts';

export const endpointController = phaseController({
  name: 'endpoint',
  kind: Endpoint,
  sharedBy: keyOfEndpoint,
  phaseOf: () => 'Present',
  facts: readEndpointFacts,
  table: endpointPhases,
  actions: endpointActions,
  report: reportEndpoint,
  reasons: endpointReasons,
  paused: isPaused,
  wokenBy: [
    { kind: Endpoint, find: twinsOfEndpoint },
    {
      kind: BMC,
      find: (bmc: BMC) => [bmc.metadata.name],
      when: (before, after) => before === undefined || after === undefined,
    },
    {
      kind: BMCSecret,
      find: (secret: BMCSecret) => [secret.metadata.name],
      when: (before, after) => before === undefined || after === undefined,
    },
  ],
  wakes: ({ discoveries }: OperatorContext, wake) => discoveries.room.on(wake),
  writes: ['endpoints/status', 'bmcs', 'bmcsecrets'],
});

/** One that comes, goes or changes its MAC address may leave another as the oldest of its twins. */
function twinsOfEndpoint({ metadata, spec }: Endpoint, { caches }: OperatorContext): string[] {
  const twins = caches.endpoints.by('mac', macIdentityOf(spec?.macAddress) ?? '');
  return twins.map((twin) => twin.metadata.name).filter((name) => name !== metadata.name);
}
