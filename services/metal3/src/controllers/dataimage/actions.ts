import { DataImage } from '@metal/api/metal3/data-image.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import type { Metal3Context } from '../../context.ts';
import { withOwner } from '../../objects/owner-references.ts';
import { NodeUnknown, NotSupported } from '../../provisioner/node-services.ts';
import { failureMessage } from '../../siblings/node-reading.ts';
import type { DataImageAction, DataImageFacts, DataImageMemory } from './facts.ts';

type DataImageReconcile = Reconcile<DataImage, DataImageFacts, Metal3Context, DataImageMemory>;

export const dataImageActions: Record<DataImageAction, (reconcile: DataImageReconcile) => Promise<void>> = {
  makeOwner,
  readDrive,
};

async function makeOwner({ object, facts, context }: DataImageReconcile): Promise<void> {
  const { host } = facts;
  if (host === undefined) return;
  const { ownerReferences = [], resourceVersion } = object.metadata;
  const patch = { metadata: { ownerReferences: withOwner(ownerReferences, host) } };
  await context.client.mergePatch(DataImage, object.metadata, patch, { resourceVersion });
}

/** A node that is gone has no image in its drive, nor has one whose drive was never filled. */
async function readDrive({ facts, context, memory, now }: DataImageReconcile): Promise<void> {
  const { host } = facts;
  if (host === undefined) return;
  try {
    const services = await context.backEnds.of(host).servicesOf(host);
    memory.last = { at: now, result: (await services.readDataImage()).isAttached };
  } catch (error) {
    const isEmpty = error instanceof NodeUnknown || error instanceof NotSupported;
    memory.last = { at: now, result: isEmpty ? false : { failure: failureMessage(error) } };
  }
}
