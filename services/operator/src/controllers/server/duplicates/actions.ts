import { memoryOf, type ServerReconcile } from '../machine.ts';

export async function recordDuplicateEvent(reconcile: ServerReconcile): Promise<void> {
  const { duplicate } = reconcile.facts;
  if (duplicate === undefined) return;
  memoryOf(reconcile).reportedDuplicates = duplicate.key;
  reconcile.warn('DuplicateSystemUUID', duplicate.message);
}
