import assert from 'node:assert/strict';
import { test } from 'node:test';
import { act, go, type PhaseTable, type ReasonEntry, rest, rowsOf, wait } from './decide.ts';

type Phase = 'Off' | 'On';
type Action = 'push';
const row = rowsOf<Phase, { lit: boolean }, Action>();

test('a table decides by facts, phase by phase', () => {
  const table: PhaseTable<Phase, { lit: boolean }, Action> = {
    Off: row(['On'], ({ lit }) => (lit ? go('On', 'Lit') : act('push', 'Dark'))),
    On: row(['Off'], ({ lit }) => (lit ? rest : wait(10, 'Fading', 'no light yet'))),
  };
  assert.deepEqual(table.Off.decide({ lit: true }), { kind: 'go', phase: 'On', reason: 'Lit', message: undefined });
  assert.deepEqual(table.Off.decide({ lit: false }), {
    kind: 'act',
    action: 'push',
    reason: 'Dark',
    message: undefined,
  });
  assert.deepEqual(table.On.decide({ lit: false }), {
    kind: 'wait',
    delayMs: 10,
    reason: 'Fading',
    message: 'no light yet',
  });
});

test('a table with a forbidden decision does not compile', () => {
  // @ts-expect-error a phase that the row does not list
  row(['Off'], () => go('On', 'NotListed'));
  // @ts-expect-error an action that does not exist
  row([], () => act('pull', 'NoSuchAction'));
  // @ts-expect-error a phase that does not exist
  row(['Broken'], () => rest);
  // @ts-expect-error a decision without a reason
  row([], () => wait(10));
  // @ts-expect-error a reason that the catalogue does not explain
  rowsOf<Phase, { lit: boolean }, Action, 'Dark'>()([], () => wait(10, 'Dim'));
  // @ts-expect-error a table without one of its phases
  const incomplete: PhaseTable<Phase, { lit: boolean }, Action> = { Off: row([], () => rest) };
  assert.ok(incomplete);
});

test('a reason without a weight, or one that needs a person without a command, does not compile', () => {
  const text = { meaning: 'It is dark.', remedy: 'Switch the light on.' };
  const entries: ReasonEntry[] = [
    { ...text, weight: 'waiting', actor: 'hardware' },
    { ...text, weight: 'needsPerson', actor: 'person', command: 'kubectl edit lamp {name}' },
    // @ts-expect-error an entry without a weight
    { ...text, actor: 'operator' },
    // @ts-expect-error an entry without an actor
    { ...text, weight: 'ok' },
    // @ts-expect-error it needs a person, and has no command
    { ...text, weight: 'needsPerson', actor: 'person' },
    // @ts-expect-error it failed, and has no command
    { ...text, weight: 'failed', actor: 'tenant' },
    // @ts-expect-error it failed, and nobody acts
    { ...text, weight: 'failed', actor: 'operator', command: 'kubectl edit lamp {name}' },
  ];
  assert.equal(entries.length, 7);
});
