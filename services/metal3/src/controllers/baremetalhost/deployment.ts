import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { Deployment } from './types.ts';

/**
 * Only another URL or another method is another deployment: a new checksum, format or user data is for the next one. Before anything is
 * recorded, nothing that is wanted is cancelled.
 */
export function deploymentOf({ spec, status }: Pick<BareMetalHost, 'spec' | 'status'>): Deployment {
  const wanted = { url: spec.image?.url ?? '', method: spec.customDeploy?.method };
  const { image, customDeploy } = status?.provisioning ?? {};
  const recorded = { url: image?.url ?? '', method: customDeploy?.method };
  const isOtherMethod = recorded.method !== undefined && recorded.method !== wanted.method;
  const isOtherImage = recorded.url !== '' && recorded.url !== wanted.url;
  const isNothingWanted = wanted.method === undefined && wanted.url === '';
  return {
    isWanted:
      (wanted.url !== '' && recorded.url === '') || (wanted.method !== undefined && recorded.method !== wanted.method),
    isRecorded: recorded.url !== '' || recorded.method !== undefined,
    isCancelled: isOtherMethod || isOtherImage || isNothingWanted,
  };
}
