import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { bmcSecretActions } from './actions.ts';
import { type BmcSecretMemory, readBmcSecretFacts } from './facts.ts';
import { bmcSecretTable } from './table.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { bmcSecretReasons } from './reasons.ts';

export const bmcSecretController = phaseController({
  name: 'bmc-secret',
  kind: BMCSecret,
  phaseOf: () => 'Present',
  memory: (): BmcSecretMemory => ({ reportedMessage: undefined }),
  facts: readBmcSecretFacts,
  table: bmcSecretTable,
  reasons: bmcSecretReasons,
  actions: bmcSecretActions,
  writes: ['bmcsecrets'],
});
