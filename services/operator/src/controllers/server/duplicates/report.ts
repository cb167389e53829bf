import type { Server } from '@metal/api/v1alpha1/server.ts';
import { condition, type ReportedCondition } from '../../ready-condition.ts';
import type { ServerFacts } from '../types.ts';

/** Set on every Server of the machine, also on the one that is managed and works. */
export function uniqueCondition(server: Server, { duplicate }: ServerFacts): ReportedCondition[] {
  const type = 'SystemUUIDUnique';
  if (duplicate !== undefined)
    return [condition(server, type, 'False', { reason: 'DuplicateSystemUUID', message: duplicate.message })];
  const known = server.status?.conditions?.some((existing) => existing.type === type) ?? false;
  return known ? [condition(server, type, 'True', { reason: 'Unique', message: 'no other Server has it' })] : [];
}
