import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import type { Metal3Context } from '../../context.ts';
import { reconcileDataImage } from '../../objects/data-images.ts';
import { unread } from '../../objects/firmware-facts.ts';
import { ensureFirmwareObjects, saveStartedUpdates } from '../../objects/firmware-objects.ts';
import { saveHardwareData } from '../../objects/hardware-objects.ts';
import { releaseSecret } from '../../objects/host-secrets.ts';
import { releaseImage } from '../../objects/preprovisioning-images.ts';
import type { FirmwareChanges } from '../../provisioner/provisioner.ts';
import { done, type StepResult } from '../../provisioner/step-result.ts';
import { outcomesIn } from './memory.ts';
import type { PassRun } from './pass-run.ts';
import type { HostFacts, HostState } from './types.ts';
import type { HostWork } from './work.ts';

export type HostReconcile = Reconcile<BareMetalHost, HostFacts, Metal3Context, PassRun>;

/** What an action gets: the pass, the back end, and the writes to other objects. */
export function workOf(reconcile: HostReconcile): HostWork {
  const { object: host, facts, memory: run, context, now } = reconcile;
  const { client } = context;
  return {
    host,
    facts,
    pass: run.pass,
    outcomes: outcomesIn(run.pass, facts.state),
    // Refused credentials are an action, too, and there is no provisioner without them.
    get provisioner() {
      return run.provisioner;
    },
    credentials: usedCredentials(host, run),
    firmware: firmwareIn(facts.state, run),
    hardware: run.found.hardware,
    defaultArchitecture,
    random: context.random,
    at: rfc3339(now),
    removeAnnotations: async (keys) => {
      const annotations = Object.fromEntries(keys.map((key) => [key, null]));
      await client.mergePatch(BareMetalHost, host.metadata, { metadata: { annotations } });
    },
    saveHardware: (details) => saveHardwareData(client, host, details),
    attachDataImage: () => attachDataImage(reconcile),
    releaseSecrets: () => release(reconcile),
    saveUpdates: (outcome) => saveUpdates(reconcile, outcome),
    forgetFirmware: () => forgetFirmware(reconcile),
    ensureFirmwareObjects: () => ensureFirmware(reconcile),
  };
}

/** The architecture of this process, in the words of uname. */
const defaultArchitecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64';

function usedCredentials({ metadata }: BareMetalHost, { found: { credentials } }: PassRun): HostWork['credentials'] {
  if (credentials === undefined) return { problem: 'spec.bmc is empty', retryMs: undefined };
  if ('problem' in credentials) return credentials;
  return { name: credentials.secretName, namespace: metadata.namespace ?? '', version: credentials.version };
}

/** A provisioned host gets only what its HostUpdatePolicy allows. */
const firmwareIn = (state: HostState, { firmware }: PassRun): FirmwareChanges =>
  state === 'provisioned' || state === 'externally provisioned' ? firmware.servicing : firmware.changes;

async function attachDataImage({ object: host, memory, context, now }: HostReconcile): Promise<StepResult> {
  const { dataImage: image, backEnd } = memory.found;
  if (image === undefined) return done;
  const services = await backEnd.servicesOf(host);
  const { client, random } = context;
  return reconcileDataImage({ client, host, image, services, random, at: rfc3339(now) });
}

/** In this order: what was deleted with the host may go only when its node is gone. */
async function release({ object: host, memory, context }: HostReconcile): Promise<void> {
  const { client, caches } = context;
  const { bmc, preprovisioningNetworkDataName = '' } = host.spec;
  const access = { client, secrets: caches.secrets };
  await releaseSecret(access, host, bmc?.credentialsName ?? '');
  await releaseSecret(access, host, preprovisioningNetworkDataName);
  await releaseImage(client, memory.found.image);
}

async function saveUpdates({ context, memory }: HostReconcile, outcome: 'started' | 'failed'): Promise<void> {
  const { components } = memory.found.firmware;
  if (components === undefined) return;
  await saveStartedUpdates(context.client, components, outcome === 'started' ? components.spec.updates : undefined);
}

/** The values in HostFirmwareSettings are those from before the change. */
function forgetFirmware({ object, context, memory, now }: HostReconcile): void {
  context.firmwareReads.applied(object, now);
  memory.firmware = unread(memory.found.firmware);
}

async function ensureFirmware({ object: host, facts, memory, context, log }: HostReconcile): Promise<void> {
  const { client } = context;
  const { backEnd, firmware: found } = memory.found;
  const hasComponents = async () => {
    // A request to the back end: components are known after the registration, or after the inspection.
    const isTime = facts.state === 'registering' || facts.state === 'preparing';
    if (!isTime && backEnd.servicesAreCheap !== true) return false;
    try {
      return (await (await backEnd.servicesOf(host)).readFirmwareComponents()).length > 0;
    } catch (error) {
      log.debug({ error: String(error) }, 'firmware components are not known');
      return false;
    }
  };
  await ensureFirmwareObjects({ client, host, found, hasComponents });
  if (memory.firmware.withdrawsUpdates && found.components !== undefined)
    await saveStartedUpdates(client, found.components, found.components.spec.updates);
}

const rfc3339 = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
