import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '@metal/kube/decide.ts';
import { handClock } from '@metal/kube/hand-clock.ts';
import { Pace } from './pace.ts';

/** Room for two, for ten seconds each. */
function openPace() {
  const clock = handClock();
  const pace = new Pace({ clock, most: 2, countsForMs: seconds(10) });
  const left: string[] = [];
  pace.left.on((name) => left.push(name));
  return { clock, pace, left };
}

test('there is room until so many are on their way, and again when one leaves', () => {
  const { pace, left } = openPace();
  assert.equal(pace.room, 2);
  pace.enter('a');
  pace.enter('b');
  assert.equal(pace.room, 0);
  pace.leave('a');
  pace.leave('a');
  assert.deepEqual([pace.room, pace.has('a'), pace.has('b'), left], [1, false, true, ['a']]);
});

test('one that takes long does not count, and entering again does not make it last', () => {
  const { clock, pace, left } = openPace();
  pace.enter('a');
  clock.advance(seconds(6));
  pace.enter('a');
  assert.equal(clock.pending, 1);
  pace.enter('b');
  clock.advance(seconds(4));
  assert.deepEqual([left, pace.room], [['a'], 1]);
  clock.advance(seconds(6));
  assert.deepEqual([left, pace.room], [['a', 'b'], 2]);
});

test('more may be let in than there is room for; there is none until enough have left', () => {
  const { pace } = openPace();
  for (const name of ['a', 'b', 'c']) pace.enter(name);
  pace.leave('a');
  assert.equal(pace.room, 0);
});

test('with its end it forgets all timers, and tells nobody', () => {
  const { clock, pace, left } = openPace();
  pace.enter('a');
  pace[Symbol.dispose]();
  assert.deepEqual([clock.pending, left], [0, []]);
});
