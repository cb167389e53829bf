import type { ServerFacts, Failure } from '../types.ts';

/** What the maintenance made worse keeps an unclaimed server out of the pool. */
export const maintenanceFailure = ({ maintenance }: Pick<ServerFacts, 'maintenance'>): Failure | undefined =>
  maintenance.comparison?.kind === 'worse'
    ? { reason: 'WorseAfterMaintenance', message: maintenance.comparison.message }
    : undefined;
