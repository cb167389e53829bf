import { imageBuildFinalizer } from '@metal/api/metal3/metal3-contract.ts';
import { PreprovisioningImage } from '@metal/api/metal3/preprovisioning-image.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import type { Metal3Context } from '../../context.ts';
import { type ImageFacts, type ImageMemory, readImageFacts } from './facts.ts';
import { imageReasons } from './reasons.ts';
import { reportImage } from './report.ts';
import { decideDeletion, imageTable } from './table.ts';

export const imageController = phaseController({
  name: 'preprovisioningimage',
  kind: PreprovisioningImage,
  phaseOf: () => 'Present',
  memory: (): ImageMemory => ({ secret: undefined }),
  facts: readImageFacts,
  table: imageTable,
  reasons: imageReasons,
  deletion: decideDeletion,
  finalizer: imageBuildFinalizer,
  actions: { findSecret },
  readOnlyActions: ['findSecret'],
  report: reportImage,
  conditionTypes: ['Ready', 'Error'],
  watches: [
    {
      kind: Secret,
      mapToKeys: (secret, { caches }: Metal3Context) =>
        caches.preprovisioningImages.by('secret', keyOf(secret)).map(keyOf),
    },
  ],
  writes: ['patch:preprovisioningimages', 'preprovisioningimages/status'],
});

async function findSecret({
  object,
  context,
  memory,
  now,
}: Reconcile<PreprovisioningImage, ImageFacts, Metal3Context, ImageMemory>): Promise<void> {
  const { networkDataName: name = '' } = object.spec;
  const secret = await context.client.find(Secret, { namespace: object.metadata.namespace, name });
  memory.secret = { name, version: secret?.metadata.resourceVersion, at: now };
}
