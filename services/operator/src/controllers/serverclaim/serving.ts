import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { isAdoptedBy } from '@metal/api/wire/adoption.ts';
import { bootOverdue } from '@metal/api/wire/contract.ts';
import { isPrepared } from '@metal/api/wire/prepared-boot.ts';
import { conditionsOf } from '../ready-condition.ts';
import { bootProblemReasons, isBootProblem } from './boot-problem-reasons.ts';
import {
  isAdopted,
  isAllFetched,
  isAnyFetched,
  isProvisioned,
  isStartAwaited,
  isToBootAgain,
  isTraced,
} from './boot-trace.ts';
import { type Blocker, type ServerBlocker, serverBlockerOf } from './server-blocker.ts';

/** The contents of a condition. */
export interface Finding extends Blocker {
  readonly status: 'True' | 'False' | 'Unknown';
}

/** How far the server of a claim is with what the claim asks for. */
export interface Serving {
  /** Condition BootConfigurationReady. */
  readonly prepared: Finding;
  /** Condition Booted. */
  readonly booted: Finding;
  /** The server cannot be worked on, or fails; also during the release of the server. */
  readonly serverBlocker: ServerBlocker | undefined;
  /** The first of all; undefined if the machine is as the claim asks. */
  readonly blocker: Blocker | undefined;
}

export interface ServingInput {
  readonly claim: ServerClaim;
  readonly server: Server;
  readonly boot: ServerBootConfiguration | undefined;
  readonly bmc: BMC | undefined;
}

/** Each message has one cause, in words for a tenant who can read nothing but the claim. */
export function servingOf(input: ServingInput): Serving {
  const { claim, server, boot, bmc } = input;
  if (boot === undefined && isAdoptedBy(server, claim)) {
    const serverBlocker = serverBlockerOf(server, bmc);
    return {
      prepared: adopted,
      booted: adopted,
      serverBlocker,
      blocker: serverBlocker ?? powerBlockerOf(claim, server),
    };
  }
  const prepared = preparedOf(input.boot);
  const booted = bootedOf(input);
  const serverBlocker = serverBlockerOf(input.server, input.bmc);
  return { prepared, booted, serverBlocker, blocker: blockerOf(input, { prepared, booted, serverBlocker }) };
}

const adopted: Finding = {
  status: 'Unknown',
  reason: 'Adopted',
  message: 'the machine was taken over as it was; nothing was booted for this claim',
};

/** The reason and its message are those of the condition Deployed of the boot configuration. */
function failedDeployment(boot: ServerBootConfiguration | undefined): Blocker | undefined {
  const { state, reason = '', message = '', observedGeneration } = boot?.status?.deployment ?? {};
  if (boot === undefined || state !== 'Failed' || observedGeneration !== boot.metadata.generation) return undefined;
  return { reason: 'DeploymentFailed', message: `the disk image was not deployed (${reason}): ${message}` };
}

function preparedOf(boot: ServerBootConfiguration | undefined): Finding {
  if (boot === undefined)
    return {
      status: 'Unknown',
      reason: 'ImageToBoot',
      message: 'the boot configuration of the claim is being created',
    };
  const about = `boot configuration ${boot.metadata.name}`;
  if (isPrepared(boot)) return { status: 'True', reason: 'Prepared', message: `${about} is prepared` };
  if (boot.status?.state === 'Error') {
    const reason = problemOf(boot);
    return { status: 'False', reason, message: `${about}: ${textOf(reason)}` };
  }
  const isPulled = conditionsOf(boot).some(({ reason }) => reason === 'ImagePulling');
  return isPulled
    ? { status: 'Unknown', reason: 'ImagePulling', message: `${about}: the image is being pulled from its registry` }
    : { status: 'Unknown', reason: 'WaitingForBootService', message: `${about}: no boot service has prepared it yet` };
}

/** The boot service puts its error code before the message. Another boot operator may write any text. */
function problemOf(boot: ServerBootConfiguration): keyof typeof bootProblemReasons {
  const codes = conditionsOf(boot)
    .filter(({ status }) => status === 'False')
    .map(({ message }) => /^(\w+): /.exec(message)?.[1] ?? '');
  return codes.find(isBootProblem) ?? 'BootConfigurationFailed';
}

/** `The image is missing.` and `Push it.` become `the image is missing; push it`. */
function textOf(reason: keyof typeof bootProblemReasons): string {
  const { meaning, remedy } = bootProblemReasons[reason];
  return [meaning, remedy]
    .map((text) => `${text.charAt(0).toLowerCase()}${text.slice(1).replace(/\.$/, '')}`)
    .join('; ');
}

const bootNotTraced: Finding = {
  status: 'Unknown',
  reason: 'BootNotTraced',
  message: 'no boot steps are recorded, so whether the machine booted is not known',
};

function bootedOf({ claim, server, boot }: ServingInput): Finding {
  if (hasBooted({ claim, server, boot }))
    return { status: 'True', reason: 'Booted', message: 'the machine fetched its boot data and was seen on' };
  if (mayHaveRun({ claim, server, boot })) return bootNotTraced;
  const overdue = boot && conditionsOf(boot).find(({ type, status }) => type === bootOverdue && status === 'True');
  if (overdue !== undefined)
    return {
      status: 'False',
      reason: 'BootOverdue',
      message: `the boot stopped at a step (${overdue.reason}); look at the console of server ${server.metadata.name}`,
    };
  const isUntraced = boot !== undefined && isPrepared(boot) && !isTraced(boot) && !isToBootAgain(server, boot);
  if (isUntraced && (claim.spec.power === 'On' || !isStartAwaited(server, boot))) return bootNotTraced;
  if (claim.spec.power !== 'On')
    return { status: 'False', reason: 'NotStarted', message: 'the machine was not started for this claim yet' };
  return { status: 'False', reason: 'WaitingForBoot', message: waitingForBoot(server, boot) };
}

const waitingForBoot = (server: Server, boot: ServerBootConfiguration | undefined): string =>
  boot !== undefined && isAnyFetched(boot)
    ? `server ${server.metadata.name} has begun to load its boot data`
    : `server ${server.metadata.name} has fetched no boot data yet`;

/**
 * The Server controller records a boot for good. Before that, the boot data was fetched while the machine is observed On; if it was
 * fetched while the machine is off, somebody else did it. A reported boot stays one after the machine is powered off.
 */
function hasBooted({ claim, server, boot }: Omit<ServingInput, 'bmc'>): boolean {
  if (isToBootAgain(server, boot)) return false;
  if (isProvisioned(server, claim)) return true;
  if (boot === undefined || !isAllFetched(boot)) return false;
  const wasReported = conditionsOf(claim).some(({ type, status }) => type === 'Booted' && status === 'True');
  return wasReported || (server.status?.powerState === 'On' && !isStartAwaited(server, boot));
}

/**
 * The machine may have run for this claim before boots were traced, or before a backup was restored. It was reported as such, or
 * nothing was reported yet and it is not known to be off. A machine that starts for the claim was off when it was bound.
 */
function mayHaveRun({ claim, server, boot }: Omit<ServingInput, 'bmc'>): boolean {
  if (isToBootAgain(server, boot) || isStartAwaited(server, boot)) return false;
  if (boot !== undefined && isAnyFetched(boot)) return false;
  const reported = conditionsOf(claim).find(({ type }) => type === 'Booted');
  if (reported !== undefined) return reported.status === 'Unknown';
  return isAdopted(server, claim.metadata) && server.status?.powerState !== 'Off';
}

function blockerOf(
  { claim, server, boot }: ServingInput,
  { prepared, booted, serverBlocker }: Omit<Serving, 'blocker'>,
): Blocker | undefined {
  // A machine that has booted starts from its disk, unless the claim wants the network each time.
  const needsBoot = booted.status !== 'True' || claim.spec.bootPolicy === 'networkAlways';
  if (needsBoot && prepared.status === 'False') return prepared;
  const failure = claim.spec.power === 'On' && booted.status !== 'True' ? failedDeployment(boot) : undefined;
  if (failure !== undefined) return failure;
  if (serverBlocker !== undefined) return serverBlocker;
  if (needsBoot && prepared.status !== 'True') return prepared;
  return powerBlockerOf(claim, server) ?? (claim.spec.power === 'On' && booted.status === 'False' ? booted : undefined);
}

function powerBlockerOf({ spec }: ServerClaim, server: Server): Blocker | undefined {
  const { powerState = 'unknown' } = server.status ?? {};
  // The API also accepts an empty power, which the Server controller treats as Off.
  const wanted = spec.power === 'On' ? 'On' : 'Off';
  if (powerState === wanted) return undefined;
  const ready = conditionsOf(server).find(({ type, status }) => type === 'Ready' && status === 'False');
  const waits = ready === undefined ? '' : ` (${ready.reason})`;
  const message = `power of server ${server.metadata.name} is ${powerState}, and the claim asks for ${wanted}${waits}`;
  return { reason: 'WaitingForPower', message };
}
