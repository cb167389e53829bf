import { isDeepStrictEqual } from 'node:util';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { BareMetalHostStatus, ErrorType } from '@metal/api/metal3/bare-metal-host-status.ts';
import type { HostState } from './types.ts';

type Spec = BareMetalHost['spec'];
type Provisioning = BareMetalHostStatus['provisioning'];
type Operation = keyof NonNullable<BareMetalHostStatus['operationHistory']>;

/** Of a host that was never reconciled. */
export const newStatus: BareMetalHostStatus = {
  operationalStatus: '',
  errorMessage: '',
  errorCount: 0,
  provisioningFailCount: 0,
  poweredOn: false,
  provisioning: { state: '', ID: '' },
};

export function failedStatus(
  status: BareMetalHostStatus,
  errorType: ErrorType,
  errorMessage: string,
): BareMetalHostStatus {
  return { ...status, operationalStatus: 'error', errorType, errorMessage, errorCount: status.errorCount + 1 };
}

/** The count stays: it grows until the operation has succeeded. */
export function clearedStatus(status: BareMetalHostStatus): BareMetalHostStatus {
  const { errorType: _, ...rest } = status;
  return { ...rest, operationalStatus: 'OK', errorMessage: '' };
}

/**
 * An image that was never tried starts with no failures. Without an image nothing is counted, so that failures of a custom deployment
 * count as long as its method stays.
 */
export function countedAttempts(status: BareMetalHostStatus, spec: Spec): BareMetalHostStatus {
  const { lastAttemptedImage, ...rest } = status;
  if (spec.image === undefined && spec.customDeploy === undefined) return { ...rest, provisioningFailCount: 0 };
  if (spec.image === undefined || isDeepStrictEqual(spec.image, lastAttemptedImage)) return status;
  return lastAttemptedImage === undefined ? status : { ...rest, provisioningFailCount: 0 };
}

/** The status of a host that has entered another state. */
export function enteredStatus(
  status: BareMetalHostStatus,
  to: HostState,
  { spec, at }: { spec: Spec; at: string },
): BareMetalHostStatus {
  const from = status.provisioning.state;
  if (from === to) return status;
  const left = leftStatus(status, to, spec);
  const provisioning = {
    ...left.provisioning,
    state: to,
    ...(startsMachine(to) ? { bootMode: spec.bootMode ?? 'UEFI' } : {}),
  };
  return {
    ...left,
    ...(to === 'unmanaged' ? { operationalStatus: 'discovered' as const } : {}),
    provisioning,
    operationHistory: historyOf(status, to, at),
  };
}

const startsMachine = (state: HostState): boolean =>
  state === 'registering' || state === 'inspecting' || state === 'provisioning';

function leftStatus(status: BareMetalHostStatus, to: HostState, spec: Spec): BareMetalHostStatus {
  const { provisioning } = status;
  switch (provisioning.state) {
    case 'registering':
    case 'inspecting':
    case 'preparing':
      return { ...status, errorCount: 0 };
    case 'ready':
    case 'available':
      if (to === 'externally provisioned') return { ...status, provisioning: withoutSettings(provisioning) };
      return to === 'provisioning' ? clearedStatus(countedAttempts(status, spec)) : status;
    case 'provisioning':
      if (to === 'provisioned')
        return { ...status, errorCount: 0, provisioningFailCount: 0, provisioning: withDeployment(provisioning, spec) };
      return status.errorType === undefined
        ? status
        : { ...status, provisioningFailCount: status.provisioningFailCount + 1 };
    case 'externally provisioned':
      return to === 'provisioned' ? { ...status, provisioning: withDeployment(provisioning, spec) } : status;
    case 'deprovisioning':
      return { ...clearedStatus(status), errorCount: 0, provisioning: withoutDeployment(provisioning) };
    case 'powering off before delete':
      return { ...status, errorCount: 0 };
    default:
      return status;
  }
}

function withDeployment(provisioning: Provisioning, spec: Spec): Provisioning {
  const { image: _, customDeploy: __, ...rest } = provisioning;
  return {
    ...rest,
    ...(spec.image === undefined ? {} : { image: spec.image }),
    ...(spec.customDeploy === undefined ? {} : { customDeploy: spec.customDeploy }),
  };
}

/** Hardware RAID outlives an image, software RAID is part of it. */
export function withoutSettings(provisioning: Provisioning): Provisioning {
  const { rootDeviceHints: _, raid, ...rest } = provisioning;
  const hardware = raid?.hardwareRAIDVolumes ?? undefined;
  return { ...rest, ...(hardware === undefined ? {} : { raid: { hardwareRAIDVolumes: hardware } }) };
}

function withoutDeployment(provisioning: Provisioning): Provisioning {
  const { image: _, customDeploy: __, ...rest } = withoutSettings(provisioning);
  return rest;
}

const operations: Readonly<Partial<Record<string, Operation>>> = {
  registering: 'register',
  inspecting: 'inspect',
  provisioning: 'provision',
  deprovisioning: 'deprovision',
};

const never = { start: null, end: null };
const noHistory = { register: never, inspect: never, provision: never, deprovision: never };

/** Only of one that has ended before. */
export function withRegistrationStart(status: BareMetalHostStatus, at: string): BareMetalHostStatus {
  const { start = null, end = null } = status.operationHistory?.register ?? never;
  if (start !== null && end === null) return status;
  return {
    ...status,
    operationHistory: { ...noHistory, ...status.operationHistory, register: { start: at, end: null } },
  };
}

/** In state registering it ends with the state. */
export function withRegistrationEnd(status: BareMetalHostStatus, at: string): BareMetalHostStatus {
  const { operationHistory, provisioning } = status;
  const { start = null, end = null } = operationHistory?.register ?? never;
  if (start === null || end !== null || provisioning.state === 'registering') return status;
  return { ...status, operationHistory: { ...noHistory, ...operationHistory, register: { start, end: at } } };
}

function historyOf(
  status: BareMetalHostStatus,
  to: HostState,
  at: string,
): NonNullable<BareMetalHostStatus['operationHistory']> {
  const known = { ...noHistory, ...status.operationHistory };
  const [ended, started] = [operations[status.provisioning.state], operations[to]];
  return {
    ...known,
    ...(ended === undefined ? {} : { [ended]: { ...known[ended], end: at } }),
    ...(started === undefined ? {} : { [started]: { start: at, end: null } }),
  };
}
