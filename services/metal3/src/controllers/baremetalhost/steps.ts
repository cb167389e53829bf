import { act, type Decision, go, wait } from '@metal/kube/controller/decide.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { HostReason } from './reasons.ts';
import type { HostAction, HostFacts, HostState, HostStep } from './types.ts';

export type HostDecision<To extends HostState = HostState> = Decision<To, HostAction, HostReason>;

/** For what only a change of the object or of its Secret can repair, in case the watch misses it. */
const untilChangeMs = minutes(10);
/** Failures of an operation after which a deletion goes on without it. */
export const failuresBeforeGivingUp = 3;

interface StepReasons {
  readonly doing: HostReason;
  readonly failed: HostReason;
}

export const stepReasons = {
  refuseCredentials: { doing: 'CredentialsUnusable', failed: 'CredentialsUnusable' },
  register: { doing: 'Registering', failed: 'RegistrationError' },
  inspect: { doing: 'Inspecting', failed: 'InspectionError' },
  prepare: { doing: 'Preparing', failed: 'PreparationError' },
  refuseProvisioning: { doing: 'ProvisioningError', failed: 'ProvisioningError' },
  provision: { doing: 'Provisioning', failed: 'ProvisioningError' },
  adopt: { doing: 'Adopting', failed: 'ProvisionedRegistrationError' },
  deprovision: { doing: 'Deprovisioning', failed: 'ProvisioningError' },
  readPower: { doing: 'ReadingPower', failed: 'PowerManagementError' },
  attachDataImage: { doing: 'AttachingDataImage', failed: 'PowerManagementError' },
  startServicing: { doing: 'Servicing', failed: 'ServicingError' },
  service: { doing: 'Servicing', failed: 'ServicingError' },
  powerOn: { doing: 'PoweringOn', failed: 'PowerManagementError' },
  powerOff: { doing: 'PoweringOff', failed: 'PowerManagementError' },
  powerOffForDeletion: { doing: 'PoweringOffBeforeDelete', failed: 'PowerManagementError' },
  detach: { doing: 'Detaching', failed: 'DetachError' },
  reattach: { doing: 'Reattaching', failed: 'DetachError' },
  deleteNode: { doing: 'Deleting', failed: 'DetachError' },
} as const satisfies Record<HostStep, StepReasons>;

/** Carries the step out once in this pass; undefined when it is finished. */
export function step(host: HostFacts, name: HostStep): HostDecision<never> | undefined {
  const { doing } = stepReasons[name];
  return host.outcomes[name] === undefined ? act(name, doing) : result(host, name);
}

/** Changes of the status by a step are stored before anything else happens, also if its cause is gone with the change. */
export function storeChanges({ outcomes }: HostFacts): HostDecision<never> | undefined {
  const changed = stepNames.find((name) => outcomes[name]?.kind === 'changed');
  return changed === undefined ? undefined : wait(0, stepReasons[changed].doing);
}

const stepNames = Object.keys(stepReasons) as HostStep[]; // the keys of a constant

/** The consequence of a step that this pass has carried out; undefined if it is finished, or was not carried out. */
export function result(host: HostFacts, name: HostStep): HostDecision<never> | undefined {
  const outcome = host.outcomes[name];
  const reasons: StepReasons = stepReasons[name];
  // A change is stored before: see storeChanges.
  if (outcome === undefined || outcome.kind === 'done' || outcome.kind === 'changed') return undefined;
  if (outcome.kind === 'busy') return wait(outcome.delayMs, reasons.doing, outcome.message);
  // The next pass registers it again.
  if (outcome.kind === 'unregistered') return wait(0, 'NodeUnknown');
  return wait(outcome.delayMs ?? untilChangeMs, reasons.failed, outcome.message);
}

/** Enters a state in which the back end has much to do, when it may. */
export function enter<const To extends HostState>(host: HostFacts, to: To, reason: HostReason): HostDecision<To> {
  return waitForCapacity(host) ?? go(to, reason);
}

/** Undefined while the back end may work on the host. */
export function waitForCapacity({ capacity }: HostFacts): HostDecision<never> | undefined {
  if (capacity === undefined) return act('askForCapacity', 'AskingForCapacity');
  return capacity.isFree ? undefined : wait(capacity.retryMs, 'NoCapacity');
}
