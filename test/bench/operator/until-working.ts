import { setTimeout as pause } from 'node:timers/promises';
import { since } from '../counts.ts';
import type { AuditLog } from '../meter/audit-log.ts';

/** What an operator watches when it can begin to work. */
const neededWatches = ['watch endpoints', 'watch bmcs', 'watch servers'];
const lookEveryMs = 50;

/** Tells, from what it asks the API server for from now on, when an operator has begun to work. */
export async function untilWorking(audit: AuditLog, user: string): Promise<(signal: AbortSignal) => Promise<void>> {
  const before = await audit.requestsOf(user);
  return async (signal) => {
    for (;;) {
      const asked = since(before, await audit.requestsOf(user));
      if (neededWatches.every((watch) => asked.has(watch))) return;
      await pause(lookEveryMs, undefined, { signal });
    }
  };
}
