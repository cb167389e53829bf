import type { PreprovisioningImage } from '@metal/api/metal3/preprovisioning-image.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import type { ImageFacts } from './facts.ts';
import type { ImageReason } from './reasons.ts';
import { missingSecret } from './table.ts';

const none = {
  imageUrl: undefined,
  kernelUrl: undefined,
  extraKernelParams: undefined,
  format: undefined,
  architecture: undefined,
  networkData: undefined,
};

/** Image and conditions in one write: a host never finds Ready beside the ramdisk of another spec. */
export function reportImage(object: PreprovisioningImage, { image, networkData }: ImageFacts): StatusReport {
  if ('problem' in image) return { fields: none, conditions: failed(object, 'ConfigurationError', image.problem) };
  if (networkData !== undefined && networkData.version === undefined)
    return { fields: none, conditions: failed(object, 'MissingNetworkData', missingSecret(networkData.name)) };
  return {
    fields: { ...none, ...image, architecture: object.spec.architecture, networkData },
    conditions: [
      condition(object, 'Ready', { status: 'True', reason: 'ImageSuccess', message: '' }),
      condition(object, 'Error', { status: 'False', reason: 'ImageSuccess', message: '' }),
    ],
  };
}

type Reported = StatusReport['conditions'][number];

const failed = (object: PreprovisioningImage, reason: ImageReason, message: string): Reported[] => [
  condition(object, 'Ready', { status: 'False', reason, message }),
  condition(object, 'Error', { status: 'True', reason, message }),
];

function condition(
  { metadata }: PreprovisioningImage,
  type: 'Ready' | 'Error',
  text: Pick<Reported, 'status' | 'reason' | 'message'>,
): Reported {
  const { generation } = metadata;
  return { type, ...text, ...(generation === undefined ? {} : { observedGeneration: generation }) };
}
