import type { ServerBootConfiguration } from '../v1alpha1/server-boot-configuration.ts';

/** Whether a boot service prepared the image of the spec. After a change of the image the state stays Ready for the earlier one. */
export const isPrepared = ({ spec, status }: Pick<ServerBootConfiguration, 'spec' | 'status'>): boolean =>
  status?.state === 'Ready' && (status.boot?.image ?? spec.image) === spec.image;
