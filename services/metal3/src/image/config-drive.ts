/** Identity of a host for its guest. */
export interface HostIdentity {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

/** `meta_data` of the config drive: the mapping of the host's metaData Secret wins. Cluster API finds the node by `uuid`. */
export const configDriveMetaData = (
  { uid, name, namespace }: HostIdentity,
  ofSecret: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> => ({
  uuid: uid,
  'metal3-namespace': namespace,
  'metal3-name': name,
  'local-hostname': name,
  local_hostname: name,
  name,
  ...ofSecret,
});

export type HostDataKey = 'userData' | 'networkData' | 'metaData';

/**
 * The text of a Secret with host data: under the key of the data, or under `value`. Undefined if neither exists: user data and meta data
 * are missing then, network data is empty.
 */
export const hostDataIn = (data: Readonly<Record<string, string>>, key: HostDataKey): string | undefined =>
  data[key] ?? data.value;
