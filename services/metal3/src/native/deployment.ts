import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { hostTaint, provisionerAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import type { DiskImage } from '@metal/api/common/disk-image.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { NewObject } from '@metal/kube/kinds/kind.ts';
import type { ProvisioningData } from '../provisioner/provisioner.ts';
import { type CleaningMode, done, failed, type StepResult } from '../provisioner/step-result.ts';
import { explained } from './host-objects.ts';
import { claimNameOf } from './native-names.ts';
import { type NativePass, objectsOf, waiting, written } from './native-pass.ts';
import { guard } from './registration.ts';

const useIronic = `use annotation ${provisionerAnnotation}: ironic`;

/** The machine is claimed for the host, and the operator writes the image. */
export async function provisionHost(pass: NativePass, data: ProvisioningData): Promise<StepResult> {
  const { access, client } = pass;
  const { server, claim, hasForeignClaim } = objectsOf(pass);
  if (server === undefined) return { kind: 'unregistered' };
  const image = diskImageOf(access.host, data);
  if (typeof image === 'string') return failed(image);
  if (hasForeignClaim)
    return failed(`ServerClaim ${claimNameOf(access.host)} is not of this host: delete it, or rename the host`);
  if (claim === undefined) {
    if (server.status?.state !== 'Available') return waiting(`the Server is in state ${server.status?.state ?? 'Initial'}`);
    await client.create(ServerClaim, newClaim(access.host, server, image));
    return written('the Server is claimed');
  }
  const ready = claim.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return done;
  if (ready?.reason === 'DeploymentFailed') return failed(explained(claim, 'Ready'));
  return waiting(explained(claim, 'Ready'));
}

function newClaim(host: BareMetalHost, server: Server, image: DiskImage): NewObject<ServerClaim> {
  const { apiVersion, kind, metadata } = host;
  const { name, namespace, uid = '' } = metadata;
  return {
    metadata: {
      name: claimNameOf(host),
      namespace,
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      power: 'On',
      image: '',
      diskImage: image,
      serverRef: { name: server.metadata.name },
      tolerations: [{ key: hostTaint, operator: 'Exists' }],
    },
  };
}

/** A text is the reason why it cannot be written. */
function diskImageOf({ spec }: BareMetalHost, { image, customDeploy }: ProvisioningData): DiskImage | string {
  if (customDeploy !== undefined) return `the native provisioner has no custom deploy steps: ${useIronic}`;
  if (image === undefined || image.url === '') return 'there is no image to write: set spec.image';
  const { url, checksum = '', checksumType, format = '' } = image;
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
    ...secretOf('metaData', spec.metaData),
  };
}

const named = (name: string | undefined) => (name === undefined ? undefined : { name });

const secretOf = (key: 'userData' | 'networkData' | 'metaData', ref: { readonly name?: string | undefined } | undefined) =>
  ref?.name === undefined || ref.name === '' ? {} : { [key]: { name: ref.name } };

/** The claim is released; the operator then cleans the machine as the host asks. */
export async function deprovisionHost(pass: NativePass, cleaning: CleaningMode): Promise<StepResult> {
  const { client } = pass;
  const { server, claim } = objectsOf(pass);
  if (server === undefined) return { kind: 'unregistered' };
  if (claim !== undefined) {
    const disks = cleaning === 'disabled' ? 'None' : 'Metadata';
    // Before the release: the cleanup begins with it.
    if (server.spec.cleanup?.disks !== disks) {
      await client.mergePatch(Server, { name: server.metadata.name }, { spec: { cleanup: { disks } } }, guard(server));
      return written();
    }
    if (claim.metadata.deletionTimestamp === undefined) {
      const { uid } = claim.metadata;
      await client.delete(ServerClaim, claim.metadata, uid === undefined ? {} : { uid });
    }
    return waiting('the claim is released');
  }
  const { state } = server.status ?? {};
  if (server.spec.serverClaimRef !== undefined) return waiting('the claim is released');
  if (state === 'Available') return done;
  if (state === 'Error') return failed(`Server ${server.metadata.name} is in state Error: ${explained(server, 'Ready')}`);
  return waiting(`the Server is in state ${state}: ${explained(server, 'Ready')}`);
}
