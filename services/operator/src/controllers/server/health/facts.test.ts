import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import type { HealthLevel } from '@metal/redfish/resources/health.ts';
import type { SystemState } from '@metal/redfish/resources/systems.ts';
import { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { calmServer } from '../../../../test/server/table.rows.ts';
import { pollOrWait } from '../bmc/steps.ts';
import { healthFacts } from './facts.ts';

const server: Server = {
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name: 'one' },
  spec: { systemUUID: 'a' },
};

function observed(level: HealthLevel | undefined, powerState: 'On' | 'Off' = 'On'): ObservedSystem {
  const memory = new ObservedSystem();
  // The facts of health use nothing else of the state.
  memory.record({ powerState, health: { level, causes: [] } } as unknown as SystemState, 0);
  return memory;
}

test('the parts of an unhealthy machine are due once, and after a quarter of an hour, whatever its health was then', () => {
  const memory = observed('Warning');
  const isDue = (now: number) => healthFacts(server, memory, now).unhealthyPartsDue;
  assert.ok(isDue(0));
  memory.unhealthyParts = { level: 'Warning', parts: [], at: 0 };
  assert.ok(!isDue(minutes(14)));
  assert.ok(isDue(minutes(15)));
  memory.unhealthyParts = { level: 'Critical', parts: [], at: 0 };
  assert.ok(!isDue(minutes(14)));
  assert.ok(isDue(minutes(15)));
  const { health } = healthFacts(server, memory, 0);
  assert.deepEqual(health, { level: 'Warning', parts: undefined }, 'parts of another level are not named');
});

test('nothing is due while the health is OK, and no change is reported twice', () => {
  const memory = observed('OK');
  assert.deepEqual(healthFacts(server, memory, 0), {
    health: { level: 'OK', parts: undefined },
    unhealthyPartsDue: false,
    healthChange: undefined,
  });
  const worse = observed('Critical');
  assert.equal(healthFacts(server, worse, 0).healthChange?.type, 'Warning');
  worse.reportedHealth = 'Critical';
  assert.equal(healthFacts(server, worse, 0).healthChange, undefined);
});

test('a machine that reports no health keeps its condition until it is on for ten minutes, and has none then', () => {
  assert.equal(healthFacts(server, observed(undefined, 'Off'), 0).health, undefined);
  assert.equal(healthFacts(server, observed(undefined, 'Off'), minutes(10)).health, undefined);
  const on = observed(undefined, 'On');
  assert.equal(healthFacts(server, on, minutes(10) - 1).health, undefined);
  assert.deepEqual(healthFacts(server, on, minutes(10)).health, { level: undefined, parts: undefined });
  assert.equal(healthFacts(server, new ObservedSystem(), 0).health, undefined);
});

test('at rest the parts are read before the event that names them, and neither while nothing has changed', () => {
  const decide = (facts: Partial<typeof calmServer>) => {
    const step = pollOrWait({ ...calmServer, ...facts }, 'Available', 'free');
    return step.kind === 'act' ? step.action : step.kind;
  };
  const [healthChange] = [healthFacts(server, observed('Critical'), 0).healthChange];
  assert.equal(decide({ unhealthyPartsDue: true, healthChange }), 'readUnhealthyParts');
  assert.equal(decide({ healthChange }), 'recordHealthEvent');
  assert.equal(decide({}), 'wait');
  assert.equal(decide({ bmc: { ...calmServer.bmc, isReachable: false }, healthChange }), 'wait');
  assert.equal(decide({ unhealthyPartsDue: true, nextPollInMs: seconds(1) - 1 }), 'wait');
});

test('no parts are read while a boot is awaited', () => {
  const kindOf = (reason: 'WaitingForBoot' | 'ClaimServed') =>
    pollOrWait({ ...calmServer, unhealthyPartsDue: true }, reason, 'on').kind;
  assert.deepEqual([kindOf('WaitingForBoot'), kindOf('ClaimServed')], ['wait', 'act']);
});
