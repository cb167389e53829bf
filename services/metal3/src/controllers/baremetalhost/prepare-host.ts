import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { BareMetalHostStatus } from '@metal/api/metal3/bare-metal-host-status.ts';
import type { HardwareDetails } from '@metal/api/metal3/hardware-details.ts';
import {
  hardwareDetailsAnnotation,
  inspectAnnotation,
  movedHostAnnotation,
  statusAnnotation,
} from '@metal/api/metal3/metal3-contract.ts';
import { fieldManagerOf } from '@metal/kube/client/field-managers.ts';
import { applyOwned } from '@metal/kube/client/field-ownership.ts';
import { wait, type Wait } from '@metal/kube/controller/decide.ts';
import type { ReconcileStart } from '@metal/kube/controller/definition.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { Metal3Context } from '../../context.ts';
import { rebootRequest } from '../../host/request-annotations.ts';
import { parseHardwareDetails, parseSavedStatus } from '../../host/saved-status.ts';
import { releaseHardwareData, saveHardwareData } from '../../objects/hardware-objects.ts';
import type { HostReason } from './reasons.ts';
import { newStatus } from './status-changes.ts';
import { hostEvent } from './status-events.ts';

type Start = ReconcileStart<BareMetalHost, Metal3Context>;

const invalidStatusMs = minutes(10);

/** What the host says about itself is stored in it before its state is looked at. Returns the host as it is then, or a wait. */
export async function prepareHost(start: Start): Promise<{ readonly host: BareMetalHost } | Wait<HostReason>> {
  const { context, object } = start;
  warnOfInvalidRequests(start);
  const data = context.caches.hardwareData.get(object.metadata);
  if (object.metadata.deletionTimestamp !== undefined && data !== undefined)
    await releaseHardwareData(context.client, data);
  const known = data?.spec.hardware;
  const restored = await restoreStatus(start, known);
  if ('kind' in restored) return restored;
  const detailed = await takeHardwareDetails(restored.host, start, known);
  return { host: await fillArchitecture(detailed, start, known ?? detailed.status?.hardware) };
}

function warnOfInvalidRequests({ object, recordEvent }: Start): void {
  for (const key of rebootRequest(object.metadata.annotations ?? {})?.invalid ?? []) {
    const problem = `annotation ${key}: expected nothing, or JSON with mode and force`;
    recordEvent(hostEvent(object, 'InvalidAnnotationValue', problem));
  }
}

/**
 * A host that was moved here brings its status in an annotation, which is removed when the status has it. A text that is not understood
 * stops everything: the host would be inspected, and perhaps it runs.
 */
async function restoreStatus(
  start: Start,
  hardware: HardwareDetails | undefined,
): Promise<{ readonly host: BareMetalHost } | Wait<HostReason>> {
  const { object: host, now, recordEvent, context } = start;
  const text = host.metadata.annotations?.[statusAnnotation];
  if (text === undefined) return { host };
  if (host.status?.lastUpdated !== undefined) return { host: await removeAnnotation(host, start, statusAnnotation) };
  const saved = parseSavedStatus(text, rfc3339(now));
  if ('problem' in saved) {
    const problem = `annotation ${statusAnnotation}: ${saved.problem}`;
    recordEvent(hostEvent(host, 'InvalidAnnotationValue', problem));
    return host.metadata.deletionTimestamp === undefined
      ? wait(invalidStatusMs, 'SavedStatusInvalid', problem)
      : { host };
  }
  const status = hardware === undefined ? saved.value : { ...saved.value, hardware };
  const { resourceVersion } = host.metadata;
  const moved = { metadata: { annotations: { [movedHostAnnotation]: 'true' } } };
  const guard = resourceVersion === undefined ? {} : { resourceVersion };
  // Before the status: a process that takes over has no other sign that the status came from another cluster.
  const marked = await context.client.mergePatch(BareMetalHost, host.metadata, moved, guard);
  const written = await writeStatus(marked, start, status);
  return { host: await removeAnnotation(written, start, statusAnnotation) };
}

/** Hardware that nobody has to inspect: that of HardwareData, else that of the annotation, which is always removed. */
async function takeHardwareDetails(
  host: BareMetalHost,
  start: Start,
  known: HardwareDetails | undefined,
): Promise<BareMetalHost> {
  const { context, now, recordEvent } = start;
  const text = host.metadata.annotations?.[hardwareDetailsAnnotation];
  const parsed = text === undefined ? undefined : parseHardwareDetails(text);
  if (parsed !== undefined && 'problem' in parsed)
    recordEvent(
      hostEvent(host, 'InvalidAnnotationValue', `annotation ${hardwareDetailsAnnotation}: ${parsed.problem}`),
    );
  const given = parsed === undefined || 'problem' in parsed ? undefined : parsed.value;
  const hardware = known ?? given;
  let current = host;
  if (hardware !== undefined && (host.status?.hardware === undefined || (text !== undefined && isUninspected(host)))) {
    if (known === undefined) await saveHardwareData(context.client, host, hardware);
    const status = { ...(host.status ?? newStatus), hardware, lastUpdated: rfc3339(now) };
    current = await writeStatus(host, start, status);
    recordEvent(hostEvent(host, 'UpdateHardwareDetails', 'the hardware is that of HardwareData or of the annotation'));
  }
  if (text === undefined) return current;
  recordEvent(hostEvent(host, 'RemoveAnnotation', `annotation ${hardwareDetailsAnnotation} is removed`));
  return removeAnnotation(current, start, hardwareDetailsAnnotation);
}

const isUninspected = ({ metadata, spec }: BareMetalHost): boolean =>
  spec.inspectionMode === 'disabled' || metadata.annotations?.[inspectAnnotation] === 'disabled';

async function fillArchitecture(
  host: BareMetalHost,
  { context }: Start,
  hardware: HardwareDetails | undefined,
): Promise<BareMetalHost> {
  const architecture = hardware?.cpu?.arch ?? '';
  const { deletionTimestamp } = host.metadata;
  if (architecture === '' || (host.spec.architecture ?? '') !== '' || deletionTimestamp !== undefined) return host;
  return context.client.mergePatch(BareMetalHost, host.metadata, { spec: { architecture } });
}

function removeAnnotation(host: BareMetalHost, { context }: Start, key: string): Promise<BareMetalHost> {
  return context.client.mergePatch(BareMetalHost, host.metadata, { metadata: { annotations: { [key]: null } } });
}

/** Under the field manager of the controller, which owns the status. */
function writeStatus(host: BareMetalHost, { context }: Start, status: BareMetalHostStatus): Promise<BareMetalHost> {
  const { name, namespace, resourceVersion } = host.metadata;
  const options = { fieldManager: fieldManagerOf('baremetalhost'), subresource: 'status' } as const;
  const fields = { metadata: { name, namespace, resourceVersion }, status };
  return applyOwned(context.client, BareMetalHost, fields, options, () => undefined);
}

const rfc3339 = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
