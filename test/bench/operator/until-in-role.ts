import { setTimeout as pause } from 'node:timers/promises';
import { since } from '../counts.ts';
import type { AuditLog } from '../meter/audit-log.ts';

/** What an operator asks for when it can begin to work, and when it waits until the lease is free. */
const firstRequests = {
  worker: ['watch endpoints', 'watch bmcs', 'watch servers'],
  follower: ['get leases'],
} as const;
export type Role = keyof typeof firstRequests;
const pollIntervalMs = 50;

/** Tells, from what it asks the API server for from now on, when an operator has taken up its role. */
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
