import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ObservedSystem } from '../bmc-connections/observed-state.ts';
import { hostPowerOf } from './host-power.ts';
import type { Attempt } from './types.ts';

type Observed = Pick<ObservedSystem, 'state' | 'transition'>;
const timeOf = (second: number): string => new Date(second * 1_000).toISOString();

function observed(power: 'On' | 'Off', second: number, requested?: 'On' | 'Off'): Observed {
  const transition = requested === undefined ? undefined : { target: requested };
  return { state: { value: { powerState: power }, at: second * 1_000 }, transition } as Observed;
}

const nothing: Observed = { state: undefined, transition: undefined };
const installed: Attempt = { installTime: timeOf(10) };
const wasOff: Attempt = { installTime: timeOf(10), powerOffTime: timeOf(20) };

const lines: readonly [what: string, now: Observed, attempt: Attempt, power: string | undefined][] = [
  ['the status counts before anything was observed', nothing, {}, 'On'],
  ['the observation counts before the status', observed('Off', 5), {}, 'Off'],
  ['Off from before the installation proves nothing', observed('Off', 5), installed, undefined],
  ['Off after the installation counts', observed('Off', 11), installed, 'Off'],
  ['a machine that is being turned on is not off', observed('Off', 11, 'On'), installed, undefined],
  ['a machine that is being turned off and is off counts', observed('Off', 11, 'Off'), installed, 'Off'],
  ['the status of an earlier process proves no start', nothing, wasOff, undefined],
  ['On from before the machine was off proves no start', observed('On', 15), wasOff, undefined],
  ['On after the machine was off proves the start', observed('On', 21), wasOff, 'On'],
];

for (const [what, now, attempt, power] of lines)
  test(what, () => {
    const server = { status: { powerState: 'On' } } as Server;
    assert.equal(hostPowerOf(server, now, attempt), power);
  });
