import { isDeepStrictEqual } from 'node:util';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { BareMetalHostStatus, ErrorType } from '@metal/api/metal3/bare-metal-host-status.ts';
import type { EventText } from '@metal/kube/client/events.ts';
import { hostEventController } from '@metal/api/metal3/metal3-contract.ts';
import { newStatus } from './status-changes.ts';

/** Reasons that programs read. */
export type HostEventReason =
  | 'Discovered'
  | 'BMCCredentialError'
  | 'BMCAccessValidated'
  | 'Registered'
  | 'ProfileSet'
  | 'InspectionStarted'
  | 'InspectionComplete'
  | 'InspectionSkipped'
  | 'ProvisioningStarted'
  | 'ProvisioningComplete'
  | 'DeprovisioningStarted'
  | 'DeprovisioningComplete'
  | 'PowerOn'
  | 'PowerOff'
  | 'UpdateHardwareDetails'
  | 'RemoveAnnotation'
  | 'InvalidAnnotationValue'
  | 'ImageAuthFormatUnsupported'
  | 'ImageAuthParseError'
  | (typeof failures)[ErrorType];

const failures = {
  'registration error': 'RegistrationError',
  'provisioned registration error': 'ProvisionedRegistrationError',
  'inspection error': 'InspectionError',
  'preparation error': 'PreparationError',
  'provisioning error': 'ProvisioningError',
  'power management error': 'PowerManagementError',
  'servicing error': 'ServicingError',
  'detach error': 'DetachError',
} as const satisfies Record<ErrorType, string>;

type Described = readonly [reason: HostEventReason, note: string];

/** Events about the changes between two versions of a host, in the words of Metal3. `credentialProblem`: that of the pass. */
export function statusEvents(
  { status: before = newStatus }: Pick<BareMetalHost, 'status'>,
  host: BareMetalHost,
  credentialProblem: string | undefined,
): EventText[] {
  const { status: after = newStatus } = host;
  return [
    ...changes(before, after),
    ...transition(before, after),
    ...(failureOf(before, after, credentialProblem) ?? []),
  ].map(([reason, note]) => hostEvent(host, reason, note));
}

/** About the host, and about the object that uses it. */
export function hostEvent({ spec }: BareMetalHost, reason: HostEventReason, note: string): EventText {
  const type = reason.endsWith('Error') || warnings.includes(reason) ? 'Warning' : 'Normal';
  return { type, reason, action: reason, note, controller: hostEventController, related: spec.consumerRef };
}

const warnings: readonly HostEventReason[] = ['InvalidAnnotationValue', 'ImageAuthFormatUnsupported'];

/** The reason of the event, and the label of the metric, of a failure. */
export const failureReason = (errorType: ErrorType): HostEventReason => failures[errorType];

function changes(before: BareMetalHostStatus, after: BareMetalHostStatus): Described[] {
  const { goodCredentials, hardwareProfile = '', poweredOn } = after;
  const isNewLogin = goodCredentials !== undefined && !isDeepStrictEqual(goodCredentials, before.goodCredentials);
  return [
    ...(isNewLogin ? [['BMCAccessValidated', 'the BMC accepted the credentials'] as const] : []),
    ...(hardwareProfile === (before.hardwareProfile ?? '')
      ? []
      : [['ProfileSet', `hardware profile ${hardwareProfile}`] as const]),
    ...(poweredOn === before.poweredOn
      ? []
      : [poweredOn ? (['PowerOn', 'the host is on'] as const) : (['PowerOff', 'the host is off'] as const)]),
  ];
}

function transition(before: BareMetalHostStatus, after: BareMetalHostStatus): Described[] {
  const [from, to] = [before.provisioning.state, after.provisioning.state];
  return from === to ? [] : [...leaving(from, before, after), ...entering(to, after)];
}

function leaving(from: string, before: BareMetalHostStatus, after: BareMetalHostStatus): Described[] {
  const to = after.provisioning.state;
  switch (from) {
    case 'registering':
      if (to === 'deleting') return [];
      return [
        ['Registered', 'the back end knows the host'],
        ...(to === 'preparing' ? [['InspectionSkipped', 'the inspection is disabled'] as const] : []),
      ];
    case 'inspecting':
      if (to !== 'preparing') return [];
      return after.hardware === before.hardware
        ? [['InspectionSkipped', 'the inspection is disabled']]
        : [['InspectionComplete', 'the hardware of the host is known']];
    case 'provisioning':
      return to === 'provisioned' ? [['ProvisioningComplete', `image ${imageOf(after)} is deployed`]] : [];
    case 'deprovisioning':
      return to === 'deleting' ? [] : [['DeprovisioningComplete', 'the deployment is removed']];
    default:
      return [];
  }
}

function entering(to: string, status: BareMetalHostStatus): Described[] {
  switch (to) {
    case 'unmanaged':
      return [['Discovered', 'the host has no BMC yet']];
    case 'inspecting':
      return [['InspectionStarted', 'the hardware of the host is inspected']];
    case 'provisioning':
      return [['ProvisioningStarted', 'the image is deployed']];
    case 'deprovisioning':
      return [['DeprovisioningStarted', `image ${imageOf(status)} is removed`]];
    default:
      return [];
  }
}

const imageOf = ({ provisioning }: BareMetalHostStatus): string =>
  provisioning.image?.url ?? provisioning.customDeploy?.method ?? '';

function failureOf(
  before: BareMetalHostStatus,
  { errorType, errorCount, errorMessage }: BareMetalHostStatus,
  credentialProblem: string | undefined,
): Described[] | undefined {
  if (errorType === undefined || errorCount <= before.errorCount) return undefined;
  return [[errorMessage === credentialProblem ? 'BMCCredentialError' : failures[errorType], errorMessage]];
}
