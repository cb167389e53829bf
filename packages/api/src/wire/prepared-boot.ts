import type { ServerBootConfiguration } from '../v1alpha1/server-boot-configuration.ts';

/** Whether a boot service prepared the image of the spec. After a change of the image the state stays Ready for the earlier one. */
export function isPrepared({ metadata, spec, status }: ServerBootConfiguration): boolean {
  if (status?.state !== 'Ready') return false;
  if (spec.diskImage !== undefined) return status.diskImage?.observedGeneration === metadata.generation;
  return (status.boot?.image ?? spec.image) === spec.image;
}
