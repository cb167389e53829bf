import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedTurnEnds, unsharedTurnEnds } from './turn-ends.ts';

test('a turn that asks for no signal makes none', ({ mock }) => {
  const { mock: made } = mock.method(AbortSignal, 'any');
  const ends = new SharedTurnEnds(new AbortController().signal, () => true);
  assert.equal(ends.isCut(), false);
  assert.equal(made.callCount(), 0);
  assert.equal(ends.signal, ends.signal);
  assert.equal(made.callCount(), 1);
});

test('a signal is aborted when the turn is cut short, whether it was asked for before or after', () => {
  const ends = new SharedTurnEnds(new AbortController().signal, () => true);
  const { signal } = ends;
  assert.equal(signal.aborted, false);
  ends.cutShort();
  assert.match(String(signal.reason), /another replica takes over/);
  const late = new SharedTurnEnds(new AbortController().signal, () => true);
  late.cutShort();
  assert.ok(late.signal.aborted && late.isCut());
});

test('a signal is aborted when everything ends, which is no reason to leave the object to others', () => {
  const everything = new AbortController();
  const all = [new SharedTurnEnds(everything.signal, () => true), unsharedTurnEnds(everything.signal)];
  const signals = all.map(({ signal }) => signal);
  everything.abort();
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, true],
  );
  assert.deepEqual(
    all.map((ends) => ends.isCut()),
    [false, false],
  );
});

test('a turn is cut as soon as it may not act', () => {
  let mayAct = true;
  const everything = new AbortController().signal;
  const all = [new SharedTurnEnds(everything, () => mayAct), unsharedTurnEnds(everything, () => mayAct)];
  const areCut = () => all.map((ends) => ends.isCut());
  assert.deepEqual(areCut(), [false, false]);
  mayAct = false;
  assert.deepEqual(areCut(), [true, true]);
});
