import { waiverName } from '@metal/api/v1alpha1/erasure-report.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { requestsNothing } from '../cleanup/policy.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';

type DecommissionStatus = NonNullable<NonNullable<Server['status']>['decommission']>;

const isLast = (phase: string | undefined): boolean => phase === 'Decommissioning' || phase === 'Decommissioned';

/** The record of a decommission. The result of the cleanup is known when the server leaves Cleanup, and kept from then on. */
export function decommissionStatus(
  server: Server,
  facts: ServerFacts,
  phase: ServerPhase,
): DecommissionStatus | undefined {
  const { request, bmcReset, completedTime } = facts.decommission;
  if (request === undefined) return undefined;
  const { status } = server;
  const cleanup = isLast(status?.state)
    ? { cleanup: status?.decommission?.cleanup, erasureReport: status?.decommission?.erasureReport }
    : isLast(phase)
      ? cleanupResult(server, facts)
      : {};
  return {
    operation: request.operation,
    requestedTime: request.since,
    ...cleanup,
    ...(bmcReset === 'none' ? {} : { bmcReset }),
    ...(completedTime === undefined ? {} : { completedTime }),
  };
}

function cleanupResult(
  { metadata, status }: Server,
  { cleanup }: ServerFacts,
): Pick<DecommissionStatus, 'cleanup' | 'erasureReport'> {
  const { clearance, record, policy } = cleanup;
  if (clearance === 'Cleaned') return { cleanup: 'Cleaned', erasureReport: record?.metadata.name };
  const since = status?.cleanup?.neededSince;
  if (clearance === 'Waived' && since !== undefined)
    return { cleanup: 'Waived', erasureReport: waiverName(metadata.name, since) };
  return requestsNothing(policy) ? { cleanup: 'None' } : {};
}
