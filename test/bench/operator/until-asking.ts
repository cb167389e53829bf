import { setTimeout as pause } from 'node:timers/promises';
import { since } from '../counts.ts';
import type { AuditLog } from '../meter/audit-log.ts';

/** What an operator asks for when it can begin to work, and when it waits until the lease is free. */
const firstRequests = {
  worker: ['watch endpoints', 'watch bmcs', 'watch servers'],
  follower: ['get leases'],
} as const;
export type Role = keyof typeof firstRequests;
const lookEveryMs = 50;

/** Tells, from what it asks the API server for from now on, when an operator has taken up its role. */
export async function untilAsking(
  audit: AuditLog,
  user: string,
  as: Role,
): Promise<(signal: AbortSignal) => Promise<void>> {
  const before = await audit.requestsOf(user);
  return async (signal) => {
    for (;;) {
      const asked = since(before, await audit.requestsOf(user));
      if (firstRequests[as].every((request) => asked.has(request))) return;
      await pause(lookEveryMs, undefined, { signal });
    }
  };
}
