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
    return wait(notReadyMs, 'BackEndNotReady', error.message);
  }
}

async function readRun(host: BareMetalHost, { context, signal }: Start): Promise<PassRun> {
  const found = await readObjects(host, context);
  const firmware = firmwareFacts(found.firmware, context.firmwareReads.appliedAt(host));
  const provisioner = await provisionerOf(host, found, { context, signal });
  const retryLimit = context.config.maxProvisioningRetries;
  return new PassRun(newPass(host), found, { firmware, provisioner, retryLimit });
}

async function readObjects(host: BareMetalHost, { client, caches, backEnds, hostMetrics }: Metal3Context) {
  const { metadata } = host;
  const isUnmanaged = ['', 'unmanaged'].includes(stateOf(host)) && !isManaged(host);
  const credentials = isUnmanaged ? undefined : await readBmcCredentials(host, { client, secrets: caches.secrets });
  if (credentials !== undefined && 'problem' in credentials) {
    const isMissing = credentials.retryMs !== undefined;
    hostMetrics.count(isMissing ? 'credentialsMissing' : 'credentialsInvalid', labelsOf(host));
  }
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
    backEnd: backEnds.of(host),
  } satisfies FoundObjects;
}

const isManaged = ({ spec }: BareMetalHost): boolean =>
  (spec.bmc?.address ?? '') !== '' || (spec.bmc?.credentialsName ?? '') !== '';

/** None without credentials, unless the host is being deleted. */
async function provisionerOf(
  host: BareMetalHost,
  { credentials, backEnd }: FoundObjects,
  { context, signal }: Pick<Start, 'context' | 'signal'>,
): Promise<Provisioner | undefined> {
  const isUsable = credentials !== undefined && !('problem' in credentials);
  if (!isUsable && host.metadata.deletionTimestamp === undefined) return undefined;
  return backEnd.provisionerOf(accessOf(host, context, { credentials, image: undefined, signal }));
}
