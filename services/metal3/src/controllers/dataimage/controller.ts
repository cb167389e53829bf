import { DataImage } from '@metal/api/metal3/data-image.ts';
import { dataImageFinalizer } from '@metal/api/metal3/metal3-contract.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { watchOfHosts } from '../../siblings/host-changes.ts';
import { dataImageActions } from './actions.ts';
import { type DataImageMemory, readDataImageFacts } from './facts.ts';
import { dataImageReasons } from './reasons.ts';
import { dataImageTable, decideDeletion } from './table.ts';

export const dataImageController = phaseController({
  name: 'dataimage',
  kind: DataImage,
  phaseOf: () => 'Present',
  memory: (): DataImageMemory => ({ last: undefined }),
  facts: readDataImageFacts,
  table: dataImageTable,
  reasons: dataImageReasons,
  deletion: decideDeletion,
  finalizer: dataImageFinalizer,
  actions: dataImageActions,
  readOnlyActions: ['readDrive'],
  watches: [watchOfHosts()],
  writes: ['patch:dataimages'],
});
