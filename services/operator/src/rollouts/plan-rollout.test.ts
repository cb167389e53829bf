import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '@metal/kube/test/seeded-random.ts';
import { limitsOf, type Rollout } from './limits.ts';
import { planRollout, type RolloutTarget } from './plan-rollout.ts';

const waiting = (name: string, more: Partial<RolloutTarget> = {}): RolloutTarget => ({
  name,
  topology: undefined,
  servers: 1,
  unavailable: 0,
  progress: 'waiting',
  compliance: 'deviating',
  wasStarted: false,
  ...more,
});
const running: Partial<RolloutTarget> = { progress: 'running', wasStarted: true, unavailable: 1 };
const done: Partial<RolloutTarget> = { progress: 'done', compliance: 'compliant', wasStarted: true };
const compliant: Partial<RolloutTarget> = { progress: 'done', compliance: 'compliant' };
const failed: Partial<RolloutTarget> = { progress: 'failed', wasStarted: true };
const limits = (rollout: Rollout, selected = 10) => limitsOf(rollout, selected);
const count = (number: number): string => number as unknown as string; // the API server stores numbers

const rows: [what: string, targets: RolloutTarget[], rollout: Rollout | undefined, start: string[], hold?: string][] = [
  ['without a rollout all start', [waiting('a'), waiting('b', { progress: 'comparing' })], undefined, ['a', 'b']],
  [
    'the first in order start',
    [waiting('a'), waiting('b'), waiting('c')],
    { maxUnavailable: count(2) },
    ['a', 'b'],
    'MaxUnavailableReached',
  ],
  [
    'one in progress takes a slot',
    [waiting('a', running), waiting('b'), waiting('c')],
    { maxUnavailable: count(2) },
    ['b'],
    'MaxUnavailableReached',
  ],
  [
    'a server whose maintenance has not ended takes a slot',
    [waiting('a', { ...done, unavailable: 1 }), waiting('b')],
    { maxUnavailable: count(1) },
    [],
    'MaxUnavailableReached',
  ],
  [
    'a server in another maintenance joins at no cost, out of order',
    [waiting('a'), waiting('b'), waiting('c', { unavailable: 1 })],
    { maxUnavailable: count(2) },
    ['a', 'c'],
    'MaxUnavailableReached',
  ],
  [
    'a compliant server takes no slot',
    [waiting('a', compliant), waiting('b', { compliance: 'compliant' }), waiting('c')],
    { maxUnavailable: count(1) },
    ['c'],
  ],
  [
    'a server that is not compared yet holds up those after it',
    [waiting('a', { progress: 'comparing' }), waiting('b')],
    { maxUnavailable: count(2) },
    [],
    'NotCompared',
  ],
  [
    'a server that cannot be read holds up no others',
    [waiting('a', { progress: 'unreadable' }), waiting('b')],
    { maxUnavailable: count(1) },
    ['b'],
    'NotCompared',
  ],
  ['0 starts none', [waiting('a')], { maxUnavailable: '0%' }, [], 'MaxUnavailableZero'],
  [
    'a percentage below one is one',
    [waiting('a'), waiting('b')],
    { maxUnavailable: '5%' },
    ['a'],
    'MaxUnavailableReached',
  ],
  [
    'paused starts none, not even those in a maintenance',
    [waiting('a', { unavailable: 1 })],
    { paused: true },
    [],
    'RolloutPaused',
  ],
  [
    'failures at the limit stop it',
    [waiting('a', failed), waiting('b', { unavailable: 1 })],
    { maxFailures: count(1) },
    [],
    'RolloutStopped',
  ],
  ['fewer failures do not', [waiting('a', failed), waiting('b')], { maxFailures: count(2) }, ['b']],
  ['the first canary goes alone', [waiting('a'), waiting('b')], { canary: 1 }, ['a'], 'CanaryInProgress'],
  ['the others wait for it', [waiting('a', running), waiting('b')], { canary: 1 }, [], 'CanaryInProgress'],
  [
    'and for the end of its maintenance',
    [waiting('a', { ...done, unavailable: 1 }), waiting('b')],
    { canary: 2 },
    [],
    'CanaryInProgress',
  ],
  [
    'a server without a change is no canary',
    [waiting('a', compliant), waiting('b'), waiting('c')],
    { canary: 1 },
    ['b'],
    'CanaryInProgress',
  ],
  [
    'after the canaries the limit counts',
    [waiting('a', done), waiting('b'), waiting('c'), waiting('d')],
    { canary: 1, maxUnavailable: count(2) },
    ['b', 'c'],
    'MaxUnavailableReached',
  ],
  ['a failed canary stops it', [waiting('a', failed), waiting('b')], { canary: 1 }, [], 'RolloutStopped'],
  [
    'a rack comes after the one before',
    [waiting('a', { topology: 'r1', ...running }), waiting('b', { topology: 'r2' })],
    { topologyKey: 'rack', maxUnavailable: count(5) },
    [],
    'TopologyInProgress',
  ],
  [
    'a rack with a failed server is over',
    [waiting('a', { topology: 'r1', ...failed }), waiting('b', { topology: 'r2' })],
    { topologyKey: 'rack' },
    ['b'],
  ],
  [
    'a BMC counts all of its servers',
    [waiting('a', { servers: 2 }), waiting('b', { servers: 2 })],
    { maxUnavailable: count(3) },
    ['a'],
    'MaxUnavailableReached',
  ],
  [
    'a BMC with more servers than allowed waits for a higher limit',
    [waiting('a', { servers: 4 })],
    { maxUnavailable: count(3) },
    [],
    'BMCTooLarge',
  ],
];
for (const [what, targets, rollout, start, hold] of rows) {
  test(`rollout: ${what}`, () => {
    const plan = planRollout(targets, rollout && limits(rollout));
    assert.deepEqual(plan.start, start);
    assert.equal(plan.hold?.reason, hold);
  });
}

test('a rollout has the canaries as its first wave, and after them waves of the limit within each topology', () => {
  const targets = [
    waiting('a', done),
    waiting('b', { topology: 'r1' }),
    waiting('c', { topology: 'r1' }),
    waiting('d', { topology: 'r1' }),
    waiting('e', { topology: 'r2' }),
    waiting('f', compliant),
  ];
  const plan = planRollout(targets, limits({ canary: 1, maxUnavailable: count(2), topologyKey: 'rack' }));
  assert.deepEqual([plan.wave, plan.waves], [2, 4]);
});

/** A fleet whose updates end or fail at random, and of which a plan starts some. */
class RandomFleet {
  readonly #random: () => number;
  readonly targets: RolloutTarget[];

  constructor(random: () => number) {
    this.#random = random;
    const length = 1 + Math.floor(random() * 30);
    this.targets = Array.from({ length }, (_, index) =>
      waiting(`s-${index}`, {
        servers: random() < 0.2 ? 2 : 1,
        topology: `rack-${Math.floor(index / 5)}`,
        ...(random() < 0.2 ? compliant : {}),
      }),
    );
  }

  get unavailable(): number {
    return this.targets.reduce((sum, target) => sum + target.unavailable, 0);
  }

  get failures(): number {
    return this.targets.filter(({ progress }) => progress === 'failed').length;
  }

  start(names: readonly string[]): void {
    this.#change((target) =>
      names.includes(target.name)
        ? { ...target, progress: 'running', wasStarted: true, unavailable: target.servers }
        : target,
    );
  }

  /** Each running one ends, fails, or stays; each maintenance of another update ends or begins. */
  proceed(): void {
    this.#change((target) => {
      const chance = this.#random();
      if (target.progress !== 'running' || chance > 0.5) return target;
      if (chance < 0.05) return { ...target, progress: 'failed', unavailable: 0 };
      return { ...target, ...done, unavailable: chance < 0.3 ? 0 : target.unavailable };
    });
    this.#change((target) =>
      target.progress === 'done' && this.#random() < 0.5 ? { ...target, unavailable: 0 } : target,
    );
  }

  #change(change: (target: RolloutTarget) => RolloutTarget): void {
    for (const [index, target] of this.targets.entries()) this.targets[index] = change(target);
  }
}

test('random rollouts never exceed the limits, start nothing after too many failures, keep the order, and end', () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = randomFrom(seed);
    const fleet = new RandomFleet(random);
    const maxUnavailable = 2 + Math.floor(random() * 5);
    const rollout = {
      maxUnavailable: count(maxUnavailable),
      maxFailures: count(1 + Math.floor(random() * 3)),
      canary: Math.floor(random() * 3),
      topologyKey: 'rack',
    };
    const bounds = limits(rollout, fleet.targets.length);
    let latest = -1;
    for (let step = 0; step < 400; step += 1) {
      const { start } = planRollout(fleet.targets, bounds);
      if (fleet.failures >= bounds.maxFailures) assert.deepEqual(start, [], `seed ${seed}: starts after failures`);
      fleet.start(start);
      assert.ok(fleet.unavailable <= maxUnavailable, `seed ${seed}: ${fleet.unavailable} of ${maxUnavailable}`);
      const places = start.map((name) => fleet.targets.findIndex((target) => target.name === name));
      for (const place of places) {
        assert.ok(place > latest, `seed ${seed}: out of order`);
        latest = place;
      }
      fleet.proceed();
    }
    const open = fleet.targets.filter(({ progress }) => progress === 'waiting');
    assert.ok(open.length === 0 || fleet.failures >= bounds.maxFailures, `seed ${seed}: ${open.length} never started`);
  }
});

test('servers that wait for the approval of their owners are named', () => {
  const targets = [waiting('a', { ...running, awaitsApproval: true }), waiting('b')];
  const { hold } = planRollout(targets, limits({ maxUnavailable: count(1) }));
  assert.equal(hold?.message, '1 of at most 1 servers are in maintenance or about to be; 1 wait for approval: a');
});
