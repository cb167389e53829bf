import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { BareMetalHostStatus, ErrorType } from '@metal/api/metal3/bare-metal-host-status.ts';
import type { HardwareDetails } from '@metal/api/metal3/hardware-details.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { backOffMs, type Random } from '../../host/back-off.ts';
import type { FirmwareChanges, Provisioner } from '../../provisioner/provisioner.ts';
import type { StepResult } from '../../provisioner/step-result.ts';
import type { HostOutcomes, HostPass } from './memory.ts';
import { clearedStatus, failedStatus } from './status-changes.ts';
import type { HostFacts, HostStep } from './types.ts';

/** The Secret of the BMC, after the operator has labelled it. */
export interface UsedCredentials {
  readonly name: string;
  readonly namespace: string;
  readonly version: string;
}

/** Everything that an action needs. Writes to other objects than the status are functions. */
export interface HostWork {
  readonly host: BareMetalHost;
  readonly facts: HostFacts;
  readonly pass: HostPass;
  /** Of the pass, in the present state. */
  readonly outcomes: HostOutcomes;
  readonly provisioner: Provisioner;
  readonly credentials: UsedCredentials | { readonly problem: string; readonly retryMs: number | undefined };
  /** Wanted in this state. */
  readonly firmware: FirmwareChanges;
  readonly hardware: HardwareDetails | undefined;
  /** Of the machine that the operator runs on. */
  readonly defaultArchitecture: string;
  readonly random: Random;
  /** RFC 3339. */
  readonly at: string;
  readonly removeAnnotations: (keys: readonly string[]) => Promise<void>;
  readonly saveHardware: (details: HardwareDetails) => Promise<void>;
  readonly attachDataImage: () => Promise<StepResult>;
  readonly releaseSecrets: () => Promise<void>;
  /** The back end has accepted the firmware updates, or lost them by a failure. */
  readonly saveUpdates: (outcome: 'started' | 'failed') => Promise<void>;
  /** Settings or updates of the firmware were applied, so that their values have to be read again. */
  readonly forgetFirmware: () => void;
  /** The host is registered: the objects for its firmware may exist. */
  readonly ensureFirmwareObjects: () => Promise<void>;
}

/** Waiting for a PreprovisioningImage; its watch ends the wait earlier. */
const imageWaitMs = minutes(5);

/**
 * Records the result of a step. A failure is counted in the status, and the pause grows with the count; a back end that works on
 * it has overcome the former failure of the step.
 */
export function record(work: HostWork, name: HostStep, result: StepResult, errorType: ErrorType): void {
  const { pass, outcomes } = work;
  switch (result.kind) {
    case 'failed': {
      const { message, knownForMs: delayMs } = result;
      // A failure that the host waits out counts once, whatever wakes the host meanwhile.
      const isKnown = delayMs !== undefined && pass.status.errorType === errorType;
      if (isKnown) outcomes[name] = { kind: 'failed', message, delayMs };
      else fail(work, name, { errorType, message });
      return;
    }
    case 'busy':
      if (pass.status.errorType === errorType) pass.status = withoutError(pass.status);
      outcomes[name] = result;
      return;
    case 'needsImage':
      outcomes[name] = { kind: 'busy', delayMs: imageWaitMs, message: 'the PreprovisioningImage is not ready' };
      return;
    case 'done':
    case 'unregistered':
      outcomes[name] = { kind: result.kind };
  }
}

export function fail(
  { pass, outcomes, random }: HostWork,
  name: HostStep,
  { errorType, message, ...given }: { errorType: ErrorType; message: string; delayMs?: number | undefined },
): void {
  pass.status = failedStatus(pass.status, errorType, message);
  const delayMs = 'delayMs' in given ? given.delayMs : backOffMs(pass.status.errorCount, random);
  outcomes[name] = { kind: 'failed', message, delayMs };
}

/** A servicing is no error, but it is not over either. */
export function withoutError(status: BareMetalHostStatus): BareMetalHostStatus {
  const cleared = clearedStatus(status);
  return status.operationalStatus === 'servicing' ? { ...cleared, operationalStatus: 'servicing' } : cleared;
}
