import { act, wait } from '@metal/kube/controller/decide.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import type { PowerMode } from '../../provisioner/step-result.ts';
import { type HostDecision, step } from './steps.ts';
import type { HostFacts } from './types.ts';

const steadyPollMs = seconds(60);
const afterServicingMs = seconds(60);

/** A restart is a power-off that an annotation asks for; the host is powered on when the annotation is gone. */
export const requestedReboot = (host: HostFacts) => (isDeployed(host) ? host.reboot : host.forcedReboot);

/** The failure of a soft one is followed by a hard one. */
export const powerOffMode = (host: HostFacts): PowerMode =>
  host.errorCount > 0 ? 'hard' : (requestedReboot(host)?.mode ?? 'soft');

/** Brings the power, and before a start also virtual media and firmware, to what the host asks. Always decides. */
export function managePower(host: HostFacts): HostDecision<never> {
  const { isOnline, isPoweredOn, reboot, hasDataImage } = host;
  const isStarting = isDeployed(host) && isOnline && !isPoweredOn;
  return (
    step(host, 'readPower') ??
    (isStarting && hasDataImage ? step(host, 'attachDataImage') : undefined) ??
    (!isPoweredOn && reboot?.isOneShot === true ? act('dropRebootRequest', 'HostIsOff') : undefined) ??
    service(host, isStarting) ??
    changePower(host) ??
    wait(steadyPollMs, isDeployed(host) ? 'Provisioned' : 'Available')
  );
}

const isDeployed = ({ state }: HostFacts): boolean => state === 'provisioned' || state === 'externally provisioned';

/** Settings and firmware of a deployed host change only when it is started anyway. */
function service(host: HostFacts, isStarting: boolean): HostDecision<never> | undefined {
  const isServicing = host.operationalStatus === 'servicing' || host.errorType === 'servicing error';
  // In this pass the servicing was finished, and the host may be powered on only after that is stored.
  if (host.outcomes.service?.kind === 'done') return wait(afterServicingMs, 'Servicing');
  if (!isServicing && !(isStarting && host.hasServicing)) return undefined;
  // Firmware that is not known yet is not withdrawn.
  if (isServicing && host.firmware === 'unread') return wait(steadyPollMs, 'FirmwareUnread');
  if (host.outcomes.service === undefined && host.operationalStatus !== 'servicing')
    return step(host, 'startServicing');
  return step(host, 'service');
}

function changePower(host: HostFacts): HostDecision<never> | undefined {
  const { mayPowerOff, outcomes, reboot } = host;
  const name = powerStepOf(host);
  if (name === undefined) return undefined;
  const pending = step(host, name);
  // The host was restarted instead of powered off, so nobody will see it off.
  const isRestarted = !mayPowerOff && outcomes.powerOff !== undefined && outcomes.powerOff.kind !== 'failed';
  return isRestarted && reboot?.isOneShot === true ? act('dropRebootRequest', 'RebootRequested') : pending;
}

/** One change of the power in a pass. */
function powerStepOf(host: HostFacts): 'powerOn' | 'powerOff' | undefined {
  const { isOnline, isPoweredOn, outcomes } = host;
  if (outcomes.powerOff !== undefined) return 'powerOff';
  if (outcomes.powerOn !== undefined) return 'powerOn';
  const wantsOn = isOnline && requestedReboot(host) === undefined;
  if (wantsOn === isPoweredOn) return undefined;
  return wantsOn ? 'powerOn' : 'powerOff';
}
