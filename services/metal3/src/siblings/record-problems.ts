import type { Comparison } from './firmware-status.ts';

interface Recording {
  readonly facts: { readonly comparison: Comparison };
  readonly memory: { recorded: string | undefined };
  warn(reason: string, message: string): void;
}

/** One event for each problem, once for the same problems. */
export async function recordProblems(reconcile: Recording): Promise<void> {
  const { problems } = reconcile.facts.comparison;
  for (const problem of problems) reconcile.warn('ValidationFailed', problem);
  reconcile.memory.recorded = problems.join('\n');
  await Promise.resolve();
}
