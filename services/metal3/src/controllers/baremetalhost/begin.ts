import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { hostFinalizer, pausedAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { rest, type Rest, wait, type Wait } from '@metal/kube/controller/decide.ts';
import type { ReconcileStart } from '@metal/kube/controller/definition.ts';
import { hasFinalizer } from '@metal/kube/controller/finalizers.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import type { Metal3Context } from '../../context.ts';
import { labelsOf } from '../../host-metrics.ts';
import { readBmcCredentials } from '../../objects/bmc-credentials.ts';
import { firmwareFacts } from '../../objects/firmware-facts.ts';
import { BackEndNotReady } from '../../provisioner/back-end.ts';
import type { Provisioner } from '../../provisioner/provisioner.ts';
import { newPass, stateOf } from './memory.ts';
import { accessOf, type FoundObjects, PassRun } from './pass-run.ts';
import { prepareHost } from './prepare-host.ts';
import type { HostReason } from './reasons.ts';

const notReadyMs = seconds(30);

const notReady = {
  type: 'Warning',
  reason: 'BackEndNotReady' satisfies HostReason,
  action: 'Reconcile',
  isCountedByReason: true,
} as const;

/** Somebody works on the host, such as a move to another cluster. Also its deletion waits. */
export const isPausedHost = ({ metadata }: BareMetalHost): boolean =>
  Object.hasOwn(metadata.annotations ?? {}, pausedAnnotation);

type Begun = { readonly memory: PassRun } | Wait<HostReason> | Rest;
type Start = ReconcileStart<BareMetalHost, Metal3Context>;

/** Brings the objects around a host up to date, and reads what the pass needs of them. */
export async function beginPass(start: Start): Promise<Begun> {
  const { object, context } = start;
  const { metadata } = object;
  // Without the finalizer the host is released already.
  const isReleased = metadata.deletionTimestamp !== undefined && !hasFinalizer(object, hostFinalizer);
  if (isPausedHost(object) || isReleased) return rest;
  context.hostMetrics.count('reconciles', labelsOf(object));
  const prepared = await prepareHost(start);
  if ('kind' in prepared) return prepared;
  try {
    return { memory: await readRun(prepared.host, start) };
  } catch (error) {
    if (!(error instanceof BackEndNotReady)) throw error;
    context.hostMetrics.count('backEndNotReady', labelsOf(object));
    // The status stays as it is, so the reason why nothing happens is in the event only.
    start.recordEvent({ ...notReady, note: error.message });
    return wait(notReadyMs, 'BackEndNotReady', error.message);
  }
}

async function readRun(host: BareMetalHost, start: Start): Promise<PassRun> {
  const { context } = start;
  const found = await readObjects(host, context);
  const firmware = firmwareFacts(found.firmware, context.firmwareReads.appliedAt(host));
  const provisioner = await provisionerOf(host, found, start);
  const retryLimit = context.config.maxProvisioningRetries;
  return new PassRun(newPass(host), found, { firmware, provisioner, retryLimit });
}

async function readObjects(host: BareMetalHost, context: Metal3Context) {
  const { metadata } = host;
  const { caches, backEnds } = context;
  const isUnmanaged = ['', 'unmanaged'].includes(stateOf(host)) && !isManaged(host);
  const credentials = isUnmanaged ? undefined : await readCredentials(host, context);
  return {
    credentials,
    hardware: caches.hardwareData.get(metadata)?.spec.hardware,
    firmware: {
      settings: caches.firmwareSettings.get(metadata),
      components: caches.firmwareComponents.get(metadata),
      policy: caches.updatePolicies.get(metadata),
    },
    image: caches.preprovisioningImages.get(metadata),
    dataImage: caches.dataImages.get(metadata),
    // A host without a BMC needs none.
    get backEnd() {
      return backEnds.of(host);
    },
  } satisfies FoundObjects;
}

export async function readCredentials(host: BareMetalHost, { client, caches, hostMetrics }: Metal3Context) {
  const labels = labelsOf(host);
  const credentials = await readBmcCredentials(host, { client, secrets: caches.secrets }).catch((error: unknown) => {
    hostMetrics.count('credentialsUnhandledErrors', labels);
    throw error;
  });
  if ('problem' in credentials)
    hostMetrics.count(credentials.retryMs === undefined ? 'credentialsInvalid' : 'credentialsMissing', labels);
  return credentials;
}

const isManaged = ({ spec }: BareMetalHost): boolean =>
  (spec.bmc?.address ?? '') !== '' || (spec.bmc?.credentialsName ?? '') !== '';

/** None without credentials, unless the host is being deleted. */
async function provisionerOf(host: BareMetalHost, found: FoundObjects, start: Start): Promise<Provisioner | undefined> {
  const { credentials } = found;
  const isUsable = credentials !== undefined && !('problem' in credentials);
  if (!isUsable && host.metadata.deletionTimestamp === undefined) return undefined;
  return found.backEnd.provisionerOf(accessOf(host, start, { credentials, image: undefined }));
}
