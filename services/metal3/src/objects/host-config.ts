import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { HostSecretMissing } from '../errors.ts';
import { type HostConfig, HostConfigError } from '../provisioner/back-end.ts';
import { claimSecret, findSecret, type SecretAccess, textIn } from './host-secrets.ts';
import { readPullSecret } from './pull-secret.ts';

type What = HostConfigError['what'];

/** Reads the Secrets of a config drive when a back end asks for them. `onProblem` is told about those that cannot be used. */
export function hostConfigOf(
  host: BareMetalHost,
  access: SecretAccess,
  onProblem: (problem: HostConfigError) => void,
): HostConfig {
  const { userData, networkData, metaData, preprovisioningNetworkDataName: ofRamdisk = '' } = host.spec;
  const rethrow = (error: unknown): never => {
    if (error instanceof HostConfigError) onProblem(error);
    throw error;
  };
  const text = (what: What, ref: SecretRef | undefined) => readText({ host, access, what, ref }).catch(rethrow);
  const ramdiskNetworkData = () =>
    text('preprovisioningNetworkData', ofRamdisk === '' ? undefined : { name: ofRamdisk });
  return {
    userData: () => text('userData', userData),
    networkData: async () => (await text('networkData', networkData)) ?? ramdiskNetworkData(),
    metaData: () => text('metaData', metaData),
    preprovisioningNetworkData: ramdiskNetworkData,
    imagePullSecret: () => readPullSecret(host, access).catch(rethrow),
  };
}

interface SecretRef {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

interface ReadText {
  readonly host: BareMetalHost;
  readonly access: SecretAccess;
  readonly what: What;
  readonly ref: SecretRef | undefined;
}

/** Undefined if the host names no Secret. */
async function readText({ host, access, what, ref }: ReadText): Promise<string | undefined> {
  const { name = '', namespace = '' } = ref ?? {};
  if (name === '') return undefined;
  refuseOtherNamespace(host, what, namespace);
  const isOfRamdisk = what === 'preprovisioningNetworkData';
  const found = await findSecret(access, host, name);
  // The deprovisioning of a host that is deleted goes on without them.
  if (found === undefined && isOfRamdisk && host.metadata.deletionTimestamp !== undefined) return undefined;
  if (found === undefined)
    throw new HostSecretMissing(`the Secret ${name} with the ${what} of the host does not exist: create it`);
  const secret = await claimSecret(access, host, found, { isOwned: false, isKept: isOfRamdisk });
  const content = textIn(secret, keys[what]) ?? textIn(secret, 'value');
  if (content !== undefined) return content;
  // As in Metal3, which needs no network data.
  if (what === 'networkData' || isOfRamdisk) return '';
  throw new HostConfigError(what, `the Secret ${name} has neither the key ${keys[what]} nor the key value`);
}

/** A tenant must not read Secrets of others through a host. @throws HostConfigError */
export function refuseOtherNamespace({ metadata }: BareMetalHost, what: What, namespace: string): void {
  if (namespace !== '' && namespace !== metadata.namespace)
    throw new HostConfigError(
      what,
      `spec.${what} names a Secret in the namespace ${namespace}: expected one in ${metadata.namespace}, the namespace of the host`,
    );
}

const keys: Readonly<Record<What, string>> = {
  userData: 'userData',
  networkData: 'networkData',
  metaData: 'metaData',
  preprovisioningNetworkData: 'networkData',
  imagePullSecret: '',
};
