import assert from 'node:assert/strict';
import { test } from 'node:test';
import { updateActions } from './actions.ts';
import { UpdateMemory } from './memory.ts';
import type { UpdateReconcile } from './reconcile.ts';
import { accepted, restarted, time } from '../../test/update-engine/test-facts.ts';
import type { Attempt, UpdateObject } from './types.ts';
import type { UpdateKind } from './update-kind.ts';

/** When the step that follows an attempt began, if that is an hour after `time`. */
async function startOfStepAfter(attempt: Attempt): Promise<string | undefined> {
  const memory = new UpdateMemory();
  memory.attempt = attempt;
  // The members that the action uses.
  const reconcile = { memory, now: Date.parse(time) + 3_600_000 } as unknown as UpdateReconcile<UpdateObject>;
  await updateActions({ isFlash: false } as UpdateKind<UpdateObject>).beginStep(reconcile);
  return memory.attempt.startTime;
}

test('the step after a verified one has all of its time', async () => {
  assert.equal(await startOfStepAfter(restarted), '2026-01-01T01:00:00Z');
});

test('a step that begins anew before it was verified has no more time than before', async () => {
  assert.equal(await startOfStepAfter(accepted), time);
});
