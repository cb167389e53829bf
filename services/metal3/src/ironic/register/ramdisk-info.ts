import type { ProvisioningState } from '@metal/api/metal3/bare-metal-host-status.ts';
import type { UsableImage } from '../../provisioner/back-end.ts';
import type { RegistrationData } from '../../provisioner/provisioner.ts';
import type { IronicPass } from '../ironic-pass.ts';
import type { Ramdisk } from '../options.ts';

export const ramdiskKeys = ['deploy_iso', 'deploy_kernel', 'deploy_ramdisk', 'kernel_append_params'] as const;
/** Undefined removes a member. */
export type RamdiskInfo = Readonly<Record<(typeof ramdiskKeys)[number], string | undefined>>;

const iso = (url: string): RamdiskInfo => ({
  deploy_iso: url,
  deploy_kernel: undefined,
  deploy_ramdisk: undefined,
  kernel_append_params: undefined,
});

const initrd = (kernel: string, ramdisk: string, parameters: string): RamdiskInfo => ({
  deploy_iso: undefined,
  deploy_kernel: kernel,
  deploy_ramdisk: ramdisk,
  // %default% stands for the parameters of Ironic's configuration.
  kernel_append_params: parameters === '' ? undefined : `%default% ${parameters}`,
});

/** The ramdisk in `driver_info`; undefined leaves it as it is. */
export function ramdiskInfo({ options, access, address }: IronicPass): RamdiskInfo | undefined {
  const { bootsIso } = address.driver;
  return options.usesPreprovisioningImages
    ? infoOfImage(access.preprovisioningImage, bootsIso, options.ramdisk)
    : infoOfOptions(options.ramdisk, bootsIso);
}

function infoOfImage(image: UsableImage | undefined, bootsIso: boolean, ramdisk: Ramdisk): RamdiskInfo | undefined {
  if (image === undefined) return undefined;
  if (image.format === 'iso') return bootsIso ? iso(image.imageUrl) : undefined;
  const kernel = image.kernelUrl ?? ramdisk.kernelUrl;
  return kernel === undefined ? undefined : initrd(kernel, image.imageUrl, image.extraKernelParams ?? '');
}

function infoOfOptions({ isoUrl, kernelUrl, initrdUrl }: Ramdisk, bootsIso: boolean): RamdiskInfo | undefined {
  if (isoUrl !== undefined && bootsIso) return iso(isoUrl);
  return kernelUrl === undefined || initrdUrl === undefined ? undefined : initrd(kernelUrl, initrdUrl, '');
}

/** The states whose work is done by a ramdisk. */
const usesRamdisk: Partial<Record<ProvisioningState, (data: RegistrationData) => boolean>> = {
  inspecting: ({ inspection }) => inspection !== 'fast',
  preparing: () => true,
  provisioning: ({ image }) => image?.format !== 'live-iso',
  deprovisioning: ({ cleaning }) => cleaning !== 'disabled',
  provisioned: ({ operationalStatus }) => operationalStatus === 'servicing',
  'externally provisioned': ({ operationalStatus }) => operationalStatus === 'servicing',
};

/** The state needs a ramdisk that no PreprovisioningImage offers yet. */
export const needsImage = (pass: IronicPass, data: RegistrationData): boolean =>
  pass.options.usesPreprovisioningImages && ramdiskInfo(pass) === undefined && usesRamdisk[data.state]?.(data) === true;
