import { configDriveMetaData } from '../../image/config-drive.ts';
import type { HostAccess } from '../../provisioner/back-end.ts';
import { objectIn } from '../../image/object-in.ts';

/** The config drive of a deployment. It may have passwords: never log it. @throws HostConfigError */
export async function configDriveOf({ host, config }: HostAccess): Promise<Readonly<Record<string, unknown>>> {
  const { uid = '', name, namespace = '' } = host.metadata;
  const [userData, networkData, metaData] = await Promise.all([
    config.userData(),
    config.networkData(),
    config.metaData(),
  ]);
  const identity = { uid, name, namespace };
  return {
    meta_data: configDriveMetaData(identity, metaData === undefined ? {} : objectIn('metaData', metaData)),
    ...(networkData === undefined ? {} : { network_data: objectIn('networkData', networkData) }),
    ...(userData === undefined ? {} : { user_data: userData }),
  };
}
