import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { labelsOf } from '../../host-metrics.ts';
import { claimSecret, findSecret } from '../../objects/host-secrets.ts';
import { type ImageFormat, obtainImage } from '../../objects/preprovisioning-images.ts';
import { accessOf } from './pass-run.ts';
import { type HostReconcile, workOf } from './run-work.ts';
import type { HostFacts } from './types.ts';
import { fail } from './work.ts';

/**
 * Gives the back end the ramdisk of the host's PreprovisioningImage, where they are used and the state needs one. Without a usable one
 * the back end decides whether it can go on.
 */
export async function chooseRamdisk(reconcile: HostReconcile): Promise<'chosen' | 'failed'> {
  const { object: host, memory: run, context } = reconcile;
  const formats = await wantedFormats(reconcile);
  if (formats === undefined) return 'chosen';
  const work = workOf(reconcile);
  const { client, caches, hostMetrics } = context;
  const architecture = host.spec.architecture ?? run.pass.status.hardware?.cpu?.arch ?? work.defaultArchitecture;
  const networkData = await networkDataOf(reconcile);
  if (typeof networkData === 'string') {
    fail(work, 'register', { errorType: 'registration error', message: networkData });
    return 'failed';
  }
  const found = caches.preprovisioningImages.get(host.metadata);
  const image = await obtainImage(client, host, found, { formats, architecture, networkData });
  if (typeof image === 'object' && 'problem' in image) {
    fail(work, 'register', { errorType: 'registration error', message: image.problem });
    return 'failed';
  }
  if (image === 'pending') hostMetrics.count('waitsForImage', labelsOf(host));
  else {
    const { credentials, backEnd } = run.found;
    run.replaceProvisioner(await backEnd.provisionerOf(accessOf(host, reconcile, { credentials, image })));
  }
  return 'chosen';
}

/** Undefined where no ramdisk is booted. */
async function wantedFormats({
  object,
  facts,
  memory,
  context,
}: HostReconcile): Promise<readonly ImageFormat[] | undefined> {
  if (!context.config.buildsPreprovisioningImages) return undefined;
  return needsRamdisk(object, facts) ? memory.provisioner.preprovisioningImageFormats() : undefined;
}

function needsRamdisk({ spec }: BareMetalHost, { state, operationalStatus }: HostFacts): boolean {
  if (state === 'inspecting') return spec.inspectionMode !== 'fast';
  if (state === 'deprovisioning') return spec.automatedCleaningMode !== 'disabled';
  if (state === 'provisioned' || state === 'externally provisioned') return operationalStatus === 'servicing';
  return state !== 'registering' && state !== 'deleting' && state !== 'powering off before delete';
}

/** The Secret with network data, claimed so that its change is noticed; the text of a problem. */
async function networkDataOf({ object: host, facts, context }: HostReconcile) {
  const name = host.spec.preprovisioningNetworkDataName ?? '';
  if (name === '') return undefined;
  const access = { client: context.client, secrets: context.caches.secrets };
  const found = await findSecret(access, host, name);
  if (found === undefined)
    return facts.isDeleting ? undefined : `the Secret ${name} of spec.preprovisioningNetworkDataName does not exist`;
  const secret = await claimSecret(access, host, found, { isOwned: true, isKept: true });
  return { name, version: secret.metadata.resourceVersion ?? '' };
}
