import type { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { rolloutStartedAnnotation, rolloutWaitAnnotation } from '@metal/api/wire/contract.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';

type VersionStatus = NonNullable<BIOSVersion['status']>;

/** What BIOSSettings, BIOSVersion, BMCSettings, BMCVersion and FirmwareVersion have in common. */
export interface Update extends KubeObject {
  readonly spec: {
    readonly dryRun?: boolean | undefined;
    /** Written by v0.7.0 or a person; no template has them. */
    readonly serverMaintenanceRef?: object | undefined;
    readonly serverMaintenanceRefs?: readonly object[] | undefined;
  };
  readonly status?:
    | (Pick<VersionStatus, 'state' | 'observedGeneration' | 'plan' | 'conditions' | 'serverMaintenanceRefs'> &
        Partial<Pick<VersionStatus, 'upgradeTask'>>)
    | undefined;
}

/**
 * comparing: not compared with the present spec yet. unreadable: the comparison was tried, without a result, or showed that another
 * object is for the same component. waiting: for the rollout of its set. running: it works, or may begin at any time.
 */
export type Progress = 'comparing' | 'unreadable' | 'waiting' | 'running' | 'done' | 'failed';

const doneStates: readonly string[] = ['Applied', 'Completed'];

export function progressOf(update: Update): Progress {
  const { status } = update;
  const isCurrent = isReportedFor(update);
  if (status?.state === 'InProgress') return 'running';
  if (isCurrent && doneStates.includes(status?.state ?? '')) return 'done';
  if (isCurrent && status?.state === 'Failed') return 'failed';
  if (!isHeld(update)) return 'running';
  if (isCurrent && status?.plan !== undefined && !isContested(update)) return 'waiting';
  return isCurrent ? 'unreadable' : 'comparing';
}

/** Another object keeps it from its target; the comparison with the machine can be the first to show it. */
export const isContested = ({ status }: Update): boolean =>
  (status?.conditions ?? []).some(({ type, reason }) => type === 'Ready' && reason === 'TargetTaken');

/** It does not begin: its set has it wait, it only compares, or it is being deleted. */
export const isHeld = ({ metadata, spec }: Update): boolean =>
  isWaiting({ metadata }) || spec.dryRun === true || metadata.deletionTimestamp !== undefined;

export const isWaiting = ({ metadata }: Pick<KubeObject, 'metadata'>): boolean =>
  metadata.annotations?.[rolloutWaitAnnotation] !== undefined;

/** The rollout let it begin with its present spec. */
export const wasStarted = ({ metadata }: Pick<KubeObject, 'metadata'>): boolean =>
  metadata.annotations?.[rolloutStartedAnnotation] !== undefined;

export type Compliance = 'compliant' | 'deviating' | 'unknown';

/** True if the server or BMC is as the present spec requires. */
export function complianceOf(update: Update): Compliance {
  const { status } = update;
  if (!isReportedFor(update)) return 'unknown';
  if (doneStates.includes(status?.state ?? '')) return 'compliant';
  if (status?.plan !== undefined) return status.plan.total === 0 ? 'compliant' : 'deviating';
  return status?.state === 'Failed' ? 'deviating' : 'unknown';
}

/** A status of an earlier spec reports nothing about the present one. */
const isReportedFor = ({ metadata, status }: Update): boolean =>
  status?.observedGeneration !== undefined && status.observedGeneration === metadata.generation;
