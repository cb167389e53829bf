import { setTimeout as pause } from 'node:timers/promises';
import { since } from '../counts.ts';
import type { AuditLog } from '../meter/audit-log.ts';

/** Requests of an operator that starts to work, or that waits for the lease. */
const firstRequests = {
  worker: ['watch endpoints', 'watch bmcs', 'watch servers'],
  follower: ['get leases'],
} as const;
export type Role = keyof typeof firstRequests;
const pollIntervalMs = 50;

/** Resolves when the requests of an operator show that it leads or waits. */
export async function untilInRole(
  audit: AuditLog,
  user: string,
  as: Role,
): Promise<(signal: AbortSignal) => Promise<void>> {
  const before = await audit.requestsOf(user);
  return async (signal) => {
    for (;;) {
      const requested = since(before, await audit.requestsOf(user));
      if (firstRequests[as].every((request) => requested.has(request))) return;
      await pause(pollIntervalMs, undefined, { signal });
    }
  };
}
