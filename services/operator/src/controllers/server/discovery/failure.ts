import type { Failure, ServerFacts } from '../types.ts';

/** Every allowed discovery attempt ended without a report. */
export function discoveryFailure({
  discoveryAttempts,
  maxDiscoveryAttempts,
}: Pick<ServerFacts, 'discoveryAttempts' | 'maxDiscoveryAttempts'>): Failure | undefined {
  if (discoveryAttempts < maxDiscoveryAttempts) return undefined;
  return {
    reason: 'DiscoveryFailed',
    message: `${discoveryAttempts} discovery attempts brought no report; the events have the last step of each`,
  };
}
