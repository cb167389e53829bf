import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { maintenanceColumnReasonAnnotation, maintenanceReasonAnnotation } from '@metal/api/wire/contract.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import type { OperatorCaches } from '../../caches.ts';
import { approvalCommand, byPrecedence, isApproved, isAsking, policyOf, refersTo } from '../../maintenance/queue.ts';
import { isReported } from '../problem-condition.ts';
import { condition, type Explanation, type ReportedCondition } from '../ready-condition.ts';
import type { ClaimReason } from './reasons.ts';

export interface MaintenanceNotice extends Explanation {
  readonly reason: ClaimReason;
  /** The request to the owner of the claim, in short. */
  readonly request?: string;
}

/** Texts of people are quoted up to this length. */
const longestPurpose = 40;

/** The maintenance that has the server of the claim, or else the first one that asks for it. */
export function maintenanceNoticeOf(
  claim: ServerClaim,
  server: Server,
  { maintenances }: Pick<OperatorCaches, 'maintenances'>,
): MaintenanceNotice | undefined {
  const all = maintenances.by('server', server.metadata.name);
  const holder = all.find((one) => refersTo(server, one));
  if (holder !== undefined) return { reason: 'InMaintenance', message: `${textOf(holder)} has the server` };
  const [first] = all.filter((one) => isAsking(one) && policyOf(one) !== undefined).toSorted(byPrecedence);
  if (first === undefined) return undefined;
  if (policyOf(first) === 'Enforced')
    return { reason: 'MaintenanceQueued', message: `${textOf(first)} begins without approval when its turn comes` };
  if (isApproved(claim))
    return { reason: 'MaintenanceQueued', message: `${textOf(first)} is approved and begins when its turn comes` };
  const awaited = `waits for approval: ${approvalCommand(claim)}`;
  return {
    reason: 'WaitingForApproval',
    message: `${textOf(first)} ${awaited}`,
    request: `ServerMaintenance ${keyOf(first)} ${awaited}`,
  };
}

function textOf(maintenance: ServerMaintenance): string {
  const { annotations, creationTimestamp } = maintenance.metadata;
  const purpose = annotations?.[maintenanceColumnReasonAnnotation] ?? annotations?.[maintenanceReasonAnnotation] ?? '';
  const quoted = purpose === '' ? '' : ` "${purpose.slice(0, longestPurpose)}"`;
  return `ServerMaintenance ${keyOf(maintenance)}${quoted} of ${creationTimestamp ?? ''}`;
}

/** Reported from the first maintenance on. */
export function maintenanceCondition(claim: ServerClaim, notice: MaintenanceNotice | undefined): ReportedCondition[] {
  if (notice !== undefined) return [condition(claim, 'Maintenance', 'True', notice)];
  const none: MaintenanceNotice = { reason: 'NoMaintenance', message: 'no maintenance asks for the server' };
  return isReported(claim, 'Maintenance') ? [condition(claim, 'Maintenance', 'False', none)] : [];
}
