import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../kinds/kind.ts';
import type { ControllerRuntime, Outcome, PhaseControllerDefinition } from './definition.ts';
import { StatusWriter } from './status-writer.ts';

const condition = (generation: number) => ({
  type: 'Ready',
  status: 'True' as const,
  reason: 'Fine',
  message: '',
  observedGeneration: generation,
});
const object: KubeObject & { status: object } = {
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a', generation: 2 },
  status: { conditions: [{ ...condition(1), lastTransitionTime: '2026-01-01T00:00:00Z' }] },
};
const rests: Outcome<'On'> = { phase: 'On', decision: { kind: 'rest' } } as Outcome<'On'>;

class Written extends Error {}

/** Reports the new generation at several times; a write throws. */
async function reportAt(times: readonly number[], changesOwnSpec: boolean): Promise<(number | 'written')[]> {
  let now = 0;
  const client = new Proxy({}, { get: () => () => Promise.reject(new Written()) });
  const definition = {
    name: 'thing',
    kind: { kind: 'Thing' },
    report: () => ({ fields: {}, conditions: [condition(2)] }),
    changesOwnSpec,
  } as unknown as PhaseControllerDefinition<KubeObject, 'On', undefined, string, never, never>;
  const runtime = { client, clock: { now: () => now } } as unknown as ControllerRuntime;
  const writer = new StatusWriter(definition, runtime, { onMissedChange: () => undefined });
  const results: (number | 'written')[] = [];
  for (now of times) {
    const urgency = { phaseChanged: false, reportAfterMs: undefined };
    const result = writer.report(object, undefined, rests, urgency).catch((error: unknown) => {
      assert.ok(error instanceof Written);
      return 'written' as const;
    });
    results.push(await result);
  }
  return results;
}

test('a new generation alone is written after a minute where the operator changes the spec itself', async () =>
  assert.deepEqual(await reportAt([0, 40_000, 60_000], true), [60_000, 20_000, 'written']));

test('a new generation is written at once where people change the spec', async () =>
  assert.deepEqual(await reportAt([0], false), ['written']));
