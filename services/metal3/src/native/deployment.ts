import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { adoptedForHostAnnotation, provisionerAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import type { DiskImage } from '@metal/api/common/disk-image.ts';
import { blockedClaimReasons } from '@metal/api/reasons/blocked-claim-reasons.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { isAdoptionRequested } from '@metal/api/wire/adoption.ts';
import { allowInterruptionAnnotation } from '@metal/api/wire/contract.ts';
import { fieldManagerOf } from '@metal/kube/client/field-managers.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { configDriveMetaData } from '../image/config-drive.ts';
import { objectIn } from '../image/object-in.ts';
import type { ProvisioningData } from '../provisioner/provisioner.ts';
import { type CleaningMode, done, failed, type StepResult } from '../provisioner/step-result.ts';
import { claimMachine } from './adoption.ts';
import { formerPolicyOf, policyOf } from './erasure-policy.ts';
import { foreignClaim, newClaim } from './claim-of-host.ts';
import { explained } from './host-objects.ts';
import { claimNameOf } from './native-names.ts';
import { type NativePass, objectsOf, uidOf, waiting, writeServer, written } from './native-pass.ts';
import { adoptionRequest } from './server-mark.ts';

const useIronic = `use annotation ${provisionerAnnotation}: ironic`;

/** The machine is claimed for the host, and the operator writes the image. */
export async function provisionHost(pass: NativePass, data: ProvisioningData): Promise<StepResult> {
  const { access, client } = pass;
  const { server, claim, hasForeignClaim } = objectsOf(pass);
  if (server === undefined) return { kind: 'unregistered' };
  const image = diskImageOf(access.host, data);
  if (typeof image === 'string') return failed(image);
  if (hasForeignClaim) return foreignClaim(access.host);
  if (claim === undefined) {
    if (server.status?.state !== 'Available') return awaitAvailable(pass, server);
    // With the claim, since others may delete it, as with its namespace: the cleanup begins at once.
    const policy = policyOf(server, { cleaning: access.host.spec.automatedCleaningMode, fleetDisks: pass.fleetDisks });
    if (policy !== undefined) return writeServer(pass, server, policy, 'the erasure is chosen');
    await saveMetaData(pass);
    await client.create(ServerClaim, newClaim(access.host, server, { power: 'On', diskImage: image }));
    return written('the Server is claimed');
  }
  const ready = claim.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return done;
  if (ready !== undefined && blockedClaimReasons.has(ready.reason)) return failed(explained(claim, 'Ready'));
  return waiting(explained(claim, 'Ready'));
}

/** Without an inspection nobody has permitted to interrupt a machine that runs; the image that is to be written does. */
async function awaitAvailable(pass: NativePass, server: Server): Promise<StepResult> {
  const { metadata, status } = server;
  if (metadata.annotations?.[allowInterruptionAnnotation] === undefined) {
    const patch = { metadata: { annotations: { [allowInterruptionAnnotation]: 'true' } } };
    await writeServer(pass, server, patch);
  }
  return waiting(`the Server is in state ${status?.state ?? 'Initial'}`);
}

/** Names of hosts have up to 253 characters, as names of Secrets. */
const metaDataSecretOf = (host: BareMetalHost): string => `${claimNameOf(host)}-metadata`;

/**
 * The meta data of the config drive, with the UID of the host, by which Cluster API finds the node. It checks the other Secrets too.
 * @throws HostConfigError
 */
async function saveMetaData({ access: { host, config }, client }: NativePass): Promise<void> {
  const { apiVersion, kind, metadata } = host;
  const { name, namespace = '', uid = '' } = metadata;
  const [given] = await Promise.all([config.metaData(), config.userData(), config.networkData()]);
  const members = given === undefined ? {} : objectIn('metaData', given);
  const text = JSON.stringify(configDriveMetaData({ uid, name, namespace }, members));
  const ownerReferences = [{ apiVersion, kind, name, uid }];
  await client.apply(
    Secret,
    {
      metadata: { name: metaDataSecretOf(host), namespace, ownerReferences },
      data: { metaData: Buffer.from(text).toString('base64') },
    },
    { fieldManager: fieldManagerOf('metal3-native'), force: true },
  );
}

/** A text is the reason why it cannot be written. */
function diskImageOf(host: BareMetalHost, { image, customDeploy }: ProvisioningData): DiskImage | string {
  const { spec } = host;
  if (customDeploy !== undefined) return `the native provisioner has no custom deploy steps: ${useIronic}`;
  if (image === undefined || image.url === '') return 'there is no image to write: set spec.image';
  const { url, checksum = '', checksumType } = image;
  // Cluster API sends an empty format; an image of another format than raw is found out before it is written.
  const format = (image.format ?? '') === '' ? 'raw' : image.format;
  if (format !== 'raw' && format !== 'qcow2')
    return `the native provisioner writes images of format raw or qcow2, found "${format}": convert the image, or ${useIronic}`;
  if (!/^https?:/.test(url)) return `the native provisioner reads images by http and https, found ${url}`;
  if (checksum === '') return 'the image has no checksum: set spec.image.checksum';
  const hints = spec.rootDeviceHints;
  return {
    url,
    checksum,
    format,
    ...(checksumType === undefined ? {} : { checksumType }),
    ...(hints === undefined ? {} : { rootDeviceHints: hints }),
    ...secretOf('userData', spec.userData),
    ...secretOf('networkData', spec.networkData ?? named(spec.preprovisioningNetworkDataName)),
    metaData: { name: metaDataSecretOf(host) },
  };
}

const named = (name: string | undefined) => (name === undefined ? undefined : { name });

const secretOf = (key: 'userData' | 'networkData', ref: { readonly name?: string | undefined } | undefined) =>
  ref?.name === undefined || ref.name === '' ? {} : { [key]: { name: ref.name } };

/** The claim is released; the operator then cleans the machine as the host asks. */
export async function deprovisionHost(pass: NativePass, cleaning: CleaningMode): Promise<StepResult> {
  const { client } = pass;
  const { server, claim } = objectsOf(pass);
  if (server === undefined) return { kind: 'unregistered' };
  // Only a machine that was claimed is cleaned.
  if (isAdoptionRequested(server)) return claimMachine(pass, server, 'Off');
  const policy = policyOf(server, { cleaning, fleetDisks: pass.fleetDisks });
  if (claim !== undefined) {
    // Before the release: the cleanup begins with it.
    if (policy !== undefined) await writeServer(pass, server, policy);
    else if (claim.metadata.deletionTimestamp === undefined)
      await client.delete(ServerClaim, claim.metadata, uidOf(claim));
    return written('the claim is released');
  }
  const { state } = server.status ?? {};
  if (server.spec.serverClaimRef !== undefined) return waiting('the claim is released');
  // The host lost its claim while it was externally provisioned: nothing was cleaned.
  const isUncleaned =
    policy !== undefined && server.spec.cleanup?.disks === 'None' && formerPolicyOf(server) !== undefined;
  if (state === 'Available' && isUncleaned)
    return writeServer(pass, server, { metadata: { annotations: adoptionRequest } });
  if (state === 'Available') return restoredPolicy(pass, server);
  if (state === 'Error')
    return failed(`Server ${server.metadata.name} is in state Error: ${explained(server, 'Ready')}`);
  return waiting(`the Server is in state ${state}: ${explained(server, 'Ready')}`);
}

async function restoredPolicy(pass: NativePass, server: Server): Promise<StepResult> {
  const { metadata, ...former } = formerPolicyOf(server) ?? { metadata: { annotations: {} } };
  const adopted = server.metadata.annotations?.[adoptedForHostAnnotation];
  const annotations = {
    ...metadata.annotations,
    ...(adopted === undefined ? {} : { [adoptedForHostAnnotation]: null }),
  };
  if (Object.keys(annotations).length === 0) return done;
  await writeServer(pass, server, { ...former, metadata: { annotations } });
  return done;
}
