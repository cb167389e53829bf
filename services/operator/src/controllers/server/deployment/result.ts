import { formatDuration } from '@metal/kube/runtime/durations.ts';
import { type DeploymentReason, isAgentReason } from '../../deployment-reasons.ts';
import type { DeploymentFacts } from './facts.ts';

/** How a deployment ended. */
export type DeploymentResult =
  | { readonly state: 'Succeeded'; readonly message: string }
  | { readonly state: 'Failed'; readonly reason: DeploymentReason; readonly message: string };

/** Undefined while it has not ended. */
export function resultOf(deployment: DeploymentFacts): DeploymentResult | undefined {
  const { target, report, agentBoot, noProgressForMs, timeoutMs, isReportEarly } = deployment;
  if (isReportEarly) return undefined;
  if (report?.state === 'Succeeded') return { state: 'Succeeded', message: report.message ?? '' };
  if (report?.state === 'Failed')
    return {
      state: 'Failed',
      // An agent of another version may have other reasons.
      reason: isAgentReason(report.reason) ? report.reason : 'DeploymentStopped',
      message: shortened(report.message ?? 'the agent reported no cause'),
    };
  if (agentBoot !== undefined && noProgressForMs >= timeoutMs)
    return {
      state: 'Failed',
      reason: 'DeploymentTimedOut',
      message: shortened(
        `nothing was heard for ${formatDuration(timeoutMs)}; ${report === undefined ? agentBoot.explanation : progressOf(deployment)}`,
      ),
    };
  if (agentBoot === undefined && target.kind === 'none')
    return { state: 'Failed', reason: target.reason, message: target.message };
  return undefined;
}

/** In whole percents, which limits the number of condition updates. */
export function progressOf({ report, image }: DeploymentFacts): string {
  if (report === undefined) return 'the agent has not reported yet';
  const { step = 'Preparing', writtenBytes = 0, disk } = report;
  const share = image === undefined ? 0 : Math.floor((writtenBytes * 100) / image.sizeBytes);
  return step === 'Writing' ? `${share} % written to ${disk?.name ?? 'the disk'}` : `step ${step}`;
}

/** Conditions of the claim have it, too. The log of the agent has all of it. */
const shortened = (text: string): string => (text.length > 90 ? `${text.slice(0, 89)}…` : text);
