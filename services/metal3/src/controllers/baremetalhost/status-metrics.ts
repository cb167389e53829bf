import { isDeepStrictEqual } from 'node:util';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { BareMetalHostStatus } from '@metal/api/metal3/bare-metal-host-status.ts';
import { type HostMetrics, type HostOperation, labelsOf } from '../../host-metrics.ts';
import { detachRequest } from '../../host/request-annotations.ts';
import type { HostPass } from './memory.ts';
import { failureReason } from './status-events.ts';
import { newStatus } from './status-changes.ts';

/** Counts what a stored change of the status says. */
export function countStatusChange(metrics: HostMetrics, before: BareMetalHost, after: BareMetalHost): void {
  const labels = labelsOf(after);
  const [old, now] = [before.status ?? newStatus, after.status ?? newStatus];
  const [from, to] = [old.provisioning.state, now.provisioning.state];
  if (from !== to) metrics.count('stateChanges', { prev_state: from, new_state: to });
  if (from !== to && to === 'unmanaged') metrics.count('unmanaged', labels);
  if (now.errorType !== undefined && now.errorCount > old.errorCount)
    metrics.count('hostErrors', { error_type: failureReason(now.errorType) });
  const isAccepted = now.goodCredentials !== undefined && old.goodCredentials !== undefined;
  if (isAccepted && !isDeepStrictEqual(now.goodCredentials, old.goodCredentials))
    metrics.count('credentialsUpdated', labels);
  if (now.operationalStatus === 'delayed' && old.operationalStatus !== 'delayed') countDelay(metrics, after);
  countDurations(metrics, labels, old, now);
}

interface StoredChange {
  readonly before: BareMetalHost;
  readonly after: BareMetalHost;
}

/** Counts what a deletion has not waited for. A host that is detached has nothing to wait for. */
export function countSkippedSteps(metrics: HostMetrics, { outcomes }: HostPass, { before, after }: StoredChange): void {
  const { metadata, spec } = after;
  const [from, to] = [before.status?.provisioning.state, after.status?.provisioning.state];
  const isDetached = detachRequest(metadata.annotations ?? {}) !== undefined;
  if (metadata.deletionTimestamp === undefined || from === to || isDetached) return;
  if (from === 'deprovisioning' && outcomes.deprovisioning?.deprovision?.kind !== 'done')
    metrics.count('deletedWithoutDeprovisioning', labelsOf(after));
  const isOff = outcomes['powering off before delete']?.powerOffForDeletion?.kind === 'done';
  if (from === 'powering off before delete' && spec.disablePowerOff !== true && !isOff)
    metrics.count('deletedWithoutPowerOff', labelsOf(after));
}

function countDelay(metrics: HostMetrics, host: BareMetalHost): void {
  const isDeploying = ['available', 'ready', 'provisioning'].includes(host.status?.provisioning.state ?? '');
  metrics.count(isDeploying ? 'delayedProvisionings' : 'delayedDeprovisionings', labelsOf(host));
}

const operations: readonly HostOperation[] = ['register', 'inspect', 'provision', 'deprovision'];

function countDurations(
  metrics: HostMetrics,
  labels: ReturnType<typeof labelsOf>,
  before: BareMetalHostStatus,
  { operationHistory }: BareMetalHostStatus,
): void {
  for (const operation of operations) {
    const { start = null, end = null } = operationHistory?.[operation] ?? {};
    if (start === null || end === null || end === before.operationHistory?.[operation]?.end) continue;
    metrics.observe(operation, labels, (Date.parse(end) - Date.parse(start)) / 1_000);
  }
}
