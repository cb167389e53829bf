import { imageChecksum, type Image, isOciUrl } from '../../image/image-checksum.ts';
import { instanceCapabilities } from '../../image/node-capabilities.ts';
import { rootDevice } from '../../image/root-device.ts';
import type { ProvisioningData } from '../../provisioner/provisioner.ts';
import type { IronicPass } from '../ironic-pass.ts';
import type { IronicNode } from '../node/ironic-node.ts';
import { change, changes, type JsonPatch } from '../node/json-patch.ts';

/** Undefined removes a member. */
type InstanceInfo = Readonly<Record<string, unknown>>;

const checksumKeys = ['image_checksum', 'image_os_hash_algo', 'image_os_hash_value'] as const;
const imageKeys = ['image_source', 'boot_iso', ...checksumKeys] as const;

export type DeploymentKind = 'disk' | 'liveIso' | 'custom';
export const deploymentKind = ({ image, customDeploy }: ProvisioningData): DeploymentKind =>
  customDeploy !== undefined ? 'custom' : image?.format === 'live-iso' ? 'liveIso' : 'disk';

/** What Ironic deploys, in `instance_info`. It identifies the image: the same members mean the same deployment. */
export function imageInfo(data: ProvisioningData): InstanceInfo {
  const { image } = data;
  const none: InstanceInfo = Object.fromEntries(imageKeys.map((key) => [key, undefined]));
  if (image === undefined) return none;
  if (deploymentKind(data) === 'liveIso') return { ...none, boot_iso: image.url };
  return { ...none, image_source: image.url, ...checksumInfo(image) };
}

function checksumInfo(image: Image): InstanceInfo {
  const found = imageChecksum(image);
  if (found.kind !== 'checksum') return {};
  return found.algorithm === undefined
    ? { image_checksum: found.checksum }
    : { image_os_hash_algo: found.algorithm, image_os_hash_value: found.checksum };
}

/** The former attempt was of the same image. */
export const isSameImage = ({ instance_info: info }: IronicNode, data: ProvisioningData): boolean =>
  Object.entries(imageInfo(data)).every(([key, value]) => (info[key] ?? undefined) === value);

/** Describes the deployment to Ironic. */
export async function deploymentPatch(pass: IronicPass, node: IronicNode, data: ProvisioningData): Promise<JsonPatch> {
  const { access, options } = pass;
  const kind = deploymentKind(data);
  const hints = rootDevice(data.rootDeviceHints ?? {});
  const { liveIso, disk } = options.persistentBoot;
  return [
    ...change('/instance_uuid', node.instance_uuid, access.host.metadata.uid),
    ...changes('/instance_info', node.instance_info, {
      ...imageInfo(data),
      capabilities: instanceCapabilities(data.bootMode),
      root_device: Object.keys(hints).length === 0 ? undefined : hints,
      image_disk_format: kind === 'liveIso' ? undefined : givenText(data.image?.format),
      image_pull_secret: isOciUrl(data.image?.url ?? '') ? await access.config.imagePullSecret() : undefined,
    }),
    ...interfacePatch(node, kind),
    ...(kind === 'custom'
      ? []
      : changes('/driver_info', node.driver_info, {
          force_persistent_boot_device: kind === 'liveIso' ? liveIso : disk,
        })),
  ];
}

const givenText = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

/** The interface of a disk image is the default of Ironic. */
function interfacePatch({ deploy_interface: present }: IronicNode, kind: DeploymentKind): JsonPatch {
  if (kind === 'liveIso') return change('/deploy_interface', present, 'ramdisk');
  if (kind === 'custom') return change('/deploy_interface', present, 'custom-agent');
  return ['ramdisk', 'custom-agent'].includes(present) ? [{ op: 'remove', path: '/deploy_interface' }] : [];
}
