import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

export const imageReasons = {
  ImageSuccess: {
    meaning: 'The ramdisk is known.',
    remedy: 'Nothing.',
    weight: 'ok',
    actor: 'operator',
  },
  ConfigurationError: {
    meaning: 'The operator has no ramdisk of an accepted format for the architecture of the host.',
    remedy: 'Set the URL of one for the architecture: DEPLOY_ISO_URL, or DEPLOY_RAMDISK_URL with DEPLOY_KERNEL_URL.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe preprovisioningimage -n {namespace} {name}',
  },
  MissingNetworkData: {
    meaning: 'The Secret with the network data of the ramdisk does not exist.',
    remedy: 'Create it, or correct spec.preprovisioningNetworkDataName of the host.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe preprovisioningimage -n {namespace} {name}',
  },
  ReadingNetworkData: {
    meaning: 'The Secret with the network data of the ramdisk is read.',
    remedy: 'Nothing; it goes on by itself.',
    weight: 'working',
    actor: 'operator',
  },
  ImageInUse: {
    meaning: 'The PreprovisioningImage is being deleted, and others still need it.',
    remedy: 'Nothing; it is deleted with their finalizers.',
    weight: 'working',
    actor: 'operator',
  },
} as const satisfies ReasonCatalogue;

export type ImageReason = keyof typeof imageReasons;
