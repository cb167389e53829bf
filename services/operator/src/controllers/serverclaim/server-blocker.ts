import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { conditionsOf } from '../ready-condition.ts';
import type { ClaimReason } from './reasons.ts';

/** Why the machine is not as the claim asks. */
export interface Blocker {
  readonly reason: ClaimReason;
  readonly message: string;
}

export interface ServerBlocker extends Blocker {
  /** The message without what ends the wait, for a text that has another ending. */
  readonly cause: string;
}

const blockedBy = (reason: ClaimReason, cause: string, ending: string): ServerBlocker => ({
  reason,
  cause,
  message: `${cause}; ${ending}`,
});

/** Steps on the way: the boot configuration, the power state or the trace of the boot explain them better. */
const explainedElsewhere = [
  'NotYetSeen',
  'LookBeforeChange',
  'Claimed',
  'ClaimNotSeen',
  'ClaimRecognised',
  'ClaimBoots',
  'ClaimStartsFromOff',
  'ClaimWantsOn',
  'ClaimWantsOff',
  'PowerRecorded',
  'PowerDrifted',
  'PowerChangeUnderWay',
  'PowerNotYetConfirmed',
  'Reprovisioning',
  'BootConfigurationFailed',
  'WaitingForBootConfiguration',
  'WaitingForBoot',
  'WaitingForPowerOn',
  'WaitingForPowerOff',
  'NoDeploymentBootYet',
  'DeploymentEnded',
  'DeploymentMustRun',
  'DeploymentFailed',
  'EarlierAttemptLeftItsBoot',
];

/** Why a Server does not do what its claim asks: the cause, named by the reason of the Server or of its BMC. */
export function serverBlockerOf(server: Server, bmc: BMC | undefined): ServerBlocker | undefined {
  const { state = 'Initial', failure } = server.status ?? {};
  const { name } = server.metadata;
  const failed = conditionsOf(server).filter(({ status }) => status !== 'True');
  const ready = failed.find(({ type }) => type === 'Ready');
  const reachable = failed.find(({ type }) => type === 'BMCReachable');
  if (state === 'Parked')
    return blockedBy('ServerParked', `server ${name} is parked`, 'it goes on when it is unparked');
  if (state === 'Maintenance')
    return blockedBy('ServerInMaintenance', `server ${name} is in maintenance`, 'it goes on after that');
  if (reachable !== undefined) return bmcBlocker(name, bmc, reachable.reason);
  if (state === 'Error') {
    const cause = `server ${name} failed (${failure?.reason ?? 'Error'})`;
    return blockedBy('ServerFailed', cause, 'its administrator has to repair it');
  }
  if (ready === undefined || explainedElsewhere.includes(ready.reason)) return undefined;
  if (ready.reason === 'SafeStop')
    return blockedBy(
      'SafeStop',
      `server ${name} lost power and boot policy safeStop keeps it off`,
      'set spec.power to Off and then to On',
    );
  if (ready.reason === 'Deploying')
    return blockedBy(
      'Deploying',
      `the disk image is being written to server ${name}`,
      'it boots from its disk after that',
    );
  const cause = `server ${name} is not ready (${ready.reason})`;
  return blockedBy('ServerNotReady', cause, 'if this stays, its administrator has to look at it');
}

function bmcBlocker(name: string, bmc: BMC | undefined, otherwise: string): ServerBlocker {
  const ready = bmc && conditionsOf(bmc).find(({ type, status }) => type === 'Ready' && status !== 'True');
  const cause = `the BMC of server ${name} cannot be used (${ready?.reason ?? otherwise})`;
  return blockedBy('BMCNotReady', cause, 'it goes on when that is repaired');
}
