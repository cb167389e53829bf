import { hasConfigDrive } from '@metal/api/common/disk-image.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ConfigDriveFiles } from '@metal/api/wire/deployment.ts';
import { controllerOf } from '@metal/kube/kinds/kind.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { parse } from 'yaml';
import { BootError } from '../errors.ts';
import { Masked } from '../masked.ts';
import { readSecret } from '../secret-text.ts';

/** The files of a config drive. Prints as ***, as they may contain credentials. */
export class ConfigDrive extends Masked {
  readonly #files: ConfigDriveFiles;

  constructor(files: ConfigDriveFiles) {
    super();
    this.#files = files;
  }

  reveal(): ConfigDriveFiles {
    return this.#files;
  }
}

type Data = 'userData' | 'networkData' | 'metaData';

/**
 * Reads what the Secrets of a disk image have for its config drive; undefined if it names none. The metadata has the name and
 * the UID of the claim unless the Secret has others.
 * @throws BootError if a Secret or its key is missing or not readable, or is no object
 */
export async function readConfigDrive(
  boot: ServerBootConfiguration,
  client: KubeClient,
  signal?: AbortSignal,
): Promise<ConfigDrive | undefined> {
  const { diskImage } = boot.spec;
  if (diskImage === undefined || !hasConfigDrive(diskImage)) return undefined;
  const textOf = (data: Data) => readText(boot, data, client, signal);
  const [userData, networkData, metaData] = await Promise.all([
    textOf('userData'),
    textOf('networkData'),
    textOf('metaData'),
  ]);
  const own = ownMetaData(boot);
  return new ConfigDrive({
    metaData: JSON.stringify({ ...own, ...(metaData === undefined ? {} : objectIn('metaData', metaData)) }),
    userData,
    networkData: networkData === undefined ? undefined : JSON.stringify(objectIn('networkData', networkData)),
  });
}

function ownMetaData(boot: ServerBootConfiguration): Record<string, unknown> {
  const { name, uid } = controllerOf(boot) ?? boot.metadata;
  return { uuid: uid, name, hostname: name, 'local-hostname': name, local_hostname: name };
}

async function readText(
  { spec, metadata }: ServerBootConfiguration,
  data: Data,
  client: KubeClient,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const name = spec.diskImage?.[data]?.name ?? '';
  if (name === '') return undefined;
  const field = `spec.diskImage.${data}`;
  const { namespace } = metadata;
  const texts = await readSecret(
    { name, namespace, key: data, otherKey: 'value', field, purpose: 'ConfigDrive' },
    client,
    signal,
  );
  return (texts.get(data) ?? texts.get('value'))?.toString() ?? '';
}

/** The message of the parser would quote the text. */
function objectIn(data: Data, text: string): object {
  const invalid = (): BootError =>
    new BootError('ConfigDriveInvalid', `the Secret of spec.diskImage.${data} has no JSON or YAML with an object`);
  try {
    const value: unknown = parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    throw invalid();
  }
  throw invalid();
}
