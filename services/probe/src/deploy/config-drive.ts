import { type ConfigDriveFiles, configDriveFiles } from '@metal/api/wire/deployment.ts';
import { iso9660Of } from './iso9660.ts';

/** By which cloud-init, Ignition and cloudbase-init find it. */
export const configDriveLabel = 'config-2';

/** The image of a config drive of OpenStack: openstack/latest with metadata, user data and network data. */
export function configDriveOf(json: unknown): Buffer {
  const { metaData, userData, networkData }: ConfigDriveFiles = configDriveFiles.parse(json);
  const files = { 'meta_data.json': metaData, user_data: userData, 'network_data.json': networkData };
  return iso9660Of(
    configDriveLabel,
    Object.entries(files).flatMap(([name, text]) =>
      text === undefined ? [] : [{ path: `openstack/latest/${name}`, content: Buffer.from(text) }],
    ),
  );
}
