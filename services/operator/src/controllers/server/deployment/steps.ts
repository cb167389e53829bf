import { act, wait } from '@metal/kube/controller/decide.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { blocker, pollOrWait } from '../bmc/steps.ts';
import { clearLeftOverride } from '../boot/steps.ts';
import { ensurePower } from '../power/steps.ts';
import type { ServerReason } from '../reasons.ts';
import { resyncMs } from '../resync.ts';
import type { ServerFacts, Step } from '../types.ts';
import type { DeploymentFacts } from './facts.ts';
import { progressOf, resultOf } from './result.ts';

/**
 * An image is written to the disk that the hints of the claim name, once. The machine boots the agent from the network, and after
 * the deployment it is off; the claim is then served from the disk.
 *
 *   off ─► boot of the agent prepared ─► network boot ─► Deploying ─► off ─► recorded: Succeeded ─► claim is provisioned
 *                                                          '─ failed, timed out ─► off ─► recorded: Failed ─► DeploymentFailed
 */
export function deploy(server: ServerFacts, deployment: DeploymentFacts): Step<'Error'> {
  const { recorded, agentBoot } = deployment;
  if (recorded?.state === 'Failed') return stayFailed(server, deployment);
  if (deployment.isReportEarly)
    return (
      blocker(server) ?? act('clearBoot', 'BootDataFetchedWhileOff', 'somebody reported before the machine started')
    );
  const result = resultOf(deployment);
  if (result !== undefined)
    return (
      blocker(server) ??
      ensureOff(server, 'DeploymentEnded') ??
      act('recordDeployment', 'DeploymentEnded', result.message)
    );
  if (agentBoot?.referenced === true) return runAgent(server, deployment, agentBoot);
  return (
    blocker(server) ?? ensureOff(server, 'ClaimStartsFromOff') ?? clearLeftOverride(server) ?? begin(server, deployment)
  );
}

function stayFailed(server: ServerFacts, { recorded, agentBoot }: DeploymentFacts): Step<'Error'> {
  const { reason = 'DeploymentStopped', message = '' } = recorded ?? {};
  return (
    blocker(server) ??
    ensureOff(server, 'DeploymentEnded') ??
    (agentBoot === undefined ? undefined : act('clearBoot', 'DeploymentEnded')) ??
    pollOrWait(server, 'DeploymentFailed', `${reason}: ${message}`)
  );
}

function begin({ foreignProbeBoot }: ServerFacts, { otherBootLeft }: DeploymentFacts): Step {
  if (foreignProbeBoot === 'taken')
    return wait(
      resyncMs,
      'ProbeBootNameTaken',
      'a ServerBootConfiguration of somebody else has the name of this server in the manager namespace; delete or rename it',
    );
  if (otherBootLeft) return act('clearBoot', 'EarlierAttemptLeftItsBoot');
  return act('prepareDeploymentBoot', 'NoDeploymentBootYet');
}

function runAgent(
  server: ServerFacts,
  deployment: DeploymentFacts,
  agentBoot: NonNullable<DeploymentFacts['agentBoot']>,
): Step<'Error'> {
  const lostInMs = Math.max(deployment.timeoutMs - deployment.noProgressForMs, 1);
  if (agentBoot.state === 'Error') return wait(lostInMs, 'BootConfigurationFailed', agentBoot.explanation);
  if (agentBoot.state === 'Pending')
    return wait(lostInMs, 'WaitingForBootConfiguration', `the image of the agent: ${agentBoot.explanation}`);
  const nextMs = Math.min(lostInMs, Math.max(server.nextPollInMs, seconds(1)));
  const progress = deployment.report === undefined ? agentBoot.explanation : progressOf(deployment);
  return (
    blocker(server) ??
    ensurePower(server, { target: 'On', reason: 'DeploymentMustRun', start: 'networkBoot', mayForce: true }) ??
    (server.nextPollInMs <= 0 ? act('observe', 'PeriodicLook') : undefined) ??
    wait(nextMs, 'Deploying', `on; ${progress}`)
  );
}

/** Nothing of the claim runs on the machine yet, so it may be forced off. */
const ensureOff = (server: ServerFacts, reason: ServerReason): Step<'Error'> | undefined =>
  ensurePower(server, { target: 'Off', reason, confirmation: 'fresh', mayForce: true });
