import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tolerateLostWrites, type EndState } from './end-state.ts';

const machine = { powerLog: [], boots: [], override: undefined };
const stateWith = (...names: string[]): EndState => ({
  objects: { boot: { status: { boot: { steps: names.map((name) => ({ name, count: 1 })) } } } },
  machine,
});
const goal = stateWith('script', 'kernel', 'initrd', 'ignition', 'booted');

const runs: [title: string, state: EndState, isEquivalent: boolean][] = [
  ['has all steps', goal, true],
  ['lost intermediate steps', stateWith('script', 'ignition', 'booted'), true],
  ['lost a step that is written at once', stateWith('script', 'kernel', 'initrd', 'ignition'), false],
  ['has one step too many', stateWith('script', 'kernel', 'initrd', 'ignition', 'booted', 'probe'), false],
  ['lost the whole object', { objects: {}, machine }, false],
];
for (const [title, state, isEquivalent] of runs) {
  test(`a run that ${title} is ${isEquivalent ? '' : 'not '}equivalent to one without kills`, () => {
    const compare = isEquivalent ? assert.deepEqual : assert.notDeepEqual;
    compare(state, tolerateLostWrites(goal, state));
  });
}
