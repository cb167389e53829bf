import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventText } from '../client/events.ts';
import { act, go, rest, wait } from './decide.ts';
import { DecisionEvents } from './decision-events.ts';
import type { ControllerRuntime } from './definition.ts';

const lamp = { apiVersion: 'test.example/v1', kind: 'Lamp', metadata: { name: 'desk' } };

function fixture() {
  const recorded: EventText[] = [];
  // The other members are not used here.
  const runtime = {
    clock: { now: () => 0 },
    events: { record: (_: unknown, text: EventText) => void recorded.push(text) },
  } as unknown as ControllerRuntime;
  const definition = {
    name: 'lamp',
    failurePhases: ['Broken'] as const,
    reasons: {
      FuseBlown: {
        meaning: 'The fuse is blown.',
        remedy: 'Replace it.',
        weight: 'failed',
        actor: 'person',
        command: 'kubectl edit lamp {name}',
      },
      SwitchedOff: { meaning: 'Somebody switched it off.', remedy: 'Nothing.', weight: 'ok', actor: 'operator' },
    },
  } as const;
  const events = new DecisionEvents<'Bright' | 'Dark' | 'Broken'>(definition, runtime);
  return { events, notes: () => recorded.map(({ type, reason, note }) => `${type} ${reason} ${note}`) };
}

test('a change of phase is a Warning for a failing reason or phase, and where the row says so', () => {
  const { events, notes } = fixture();
  events.recordChange(lamp, 'Bright', go('Dark', 'SwitchedOff'));
  events.recordChange(lamp, 'Bright', go('Dark', 'FuseBlown', 'fuse 3'));
  events.recordChange(lamp, 'Bright', go('Broken', 'SwitchedOff'));
  events.recordChange(lamp, 'Bright', go('Dark', 'SwitchedOff', 'twice', { type: 'Warning' }));
  events.recordChange(lamp, 'Bright', go('Dark', 'FuseBlown', 'not notes', 'none'));
  assert.deepEqual(notes(), [
    'Normal SwitchedOff Bright → Dark',
    'Warning FuseBlown Bright → Dark: fuse 3',
    'Warning SwitchedOff Bright → Broken',
    'Warning SwitchedOff Bright → Dark: twice',
  ]);
});

test('a wait after the event of its reason adds none', () => {
  const { events, notes } = fixture();
  events.recordChange(lamp, 'Bright', go('Broken', 'FuseBlown', 'fuse 3'));
  assert.equal(events.recordWait(lamp, 'Broken', wait(1, 'FuseBlown', 'fuse 3')), Infinity);
  events.endWait('desk');
  events.recordWait(lamp, 'Broken', wait(1, 'FuseBlown'));
  assert.deepEqual(notes(), ['Warning FuseBlown Bright → Broken: fuse 3', 'Warning FuseBlown The fuse is blown.']);
});

test('a failed reconcile is a Warning with the code of the error', () => {
  const { events, notes } = fixture();
  events.recordFailure(lamp, 'Dark', Object.assign(new Error('no answer'), { code: 'TimedOut' }));
  events.recordFailure(lamp, 'Dark', new TypeError('not a function'));
  assert.deepEqual(notes(), ['Warning TimedOut no answer', 'Warning InternalError not a function']);
});

test('the level of a log line follows the type of the event', () => {
  const { events } = fixture();
  assert.equal(events.typeOf(act('push', 'FuseBlown')), 'Warning');
  assert.equal(events.typeOf(wait(1, 'SwitchedOff')), 'Normal');
  assert.equal(events.typeOf(rest), 'Normal');
});
