import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { readOperatorConfig } from '../../options.ts';
import type { OperatorContext } from '../context.ts';
import { type InventoryMemory, readInventoryFacts } from './facts.ts';
import { updateMemory } from './memory.ts';
import { inventoryTable } from './table.ts';

type Firmware = NonNullable<NonNullable<ServerInventory['status']>['firmware']>;

interface Situation {
  readonly state?: string;
  readonly biosVersion?: string;
  readonly bmcState?: string;
  readonly firmware?: Firmware;
  readonly settings?: BIOSSettings['status'];
  readonly publishesFirmware?: boolean;
}

const read: Firmware = { readTime: '2026-01-01T00:00:00Z', biosVersion: '1.0', bmcVersion: '7.0', components: [] };

/** The decision at a time, as often as the loop makes it. */
function decider(memory: InventoryMemory = { noticedAt: undefined, failedAt: undefined, failures: 0 }) {
  return (now: number, situation: Situation = {}) => {
    const { inventory, context } = objectsOf(situation);
    updateMemory(memory, inventory, context, { now });
    const decision = inventoryTable.Reported.decide(readInventoryFacts(inventory, context, { now, memory }));
    return decision.kind === 'wait' ? decision.delayMs : decision.kind;
  };
}

function objectsOf({ state = 'Available', biosVersion = '1.0', bmcState = 'Enabled', ...more }: Situation) {
  const { firmware, settings, publishesFirmware = true } = more;
  const meta = { apiVersion: 'metal.ironcore.dev/v1alpha1', metadata: { name: 'one' } };
  const server = {
    ...meta,
    spec: { systemUUID: 'a', systemURI: '/redfish/v1/Systems/1', bmcRef: { name: 'one' } },
    status: { state, biosVersion },
  } as unknown as Server; // with the fields that are read
  const bmc = {
    ...meta,
    spec: { access: { ip: '192.0.2.1' }, bmcSecretRef: { name: 'one' }, protocol: { name: 'Redfish', port: 443 } },
    status: { state: bmcState, firmwareVersion: '7.0' },
  } as unknown as BMC; // likewise
  const inventory = { ...meta, spec: {}, status: { firmware } } as unknown as ServerInventory;
  const none = { by: () => [], get: () => undefined };
  const caches = {
    servers: { get: () => server },
    bmcs: { get: () => bmc },
    endpoints: none,
    bmcSecrets: { get: () => ({ metadata: {}, data: { username: 'dQ==', password: 'cA==' } }) },
    biosSettings: { by: () => (settings === undefined ? [] : [{ metadata: {}, status: settings }]) },
    biosVersions: none,
    firmwareVersions: none,
    bmcVersions: none,
  };
  const config = { ...readOperatorConfig({}), publishesFirmware };
  return { inventory, context: { caches, config } as unknown as OperatorContext };
}

test('firmware is read long after the server is Available, at another time for each server, and then not again', () => {
  const decide = decider();
  const delayMs = decide(0);
  assert.ok(typeof delayMs === 'number' && delayMs >= minutes(10) && delayMs <= minutes(30));
  assert.equal(decide(minutes(30)), 'act');
  assert.equal(decide(minutes(31), { firmware: read }), 'rest');
  assert.equal(decide(minutes(10_000), { firmware: read }), 'rest');
});

test('firmware is read again after another version of the BIOS, or applied settings', () => {
  const settings = (lastTransitionTime: string): NonNullable<BIOSSettings['status']> => ({
    state: 'Applied',
    attempt: { acceptTime: lastTransitionTime },
    conditions: [{ type: 'Ready', status: 'True', reason: 'AsDesired', message: '', lastTransitionTime }],
  });
  for (const change of [{ biosVersion: '2.0' }, { settings: settings('2026-01-01T01:00:00Z') }]) {
    const decide = decider();
    const delayMs = decide(0, { firmware: read, ...change });
    assert.ok(typeof delayMs === 'number' && delayMs >= minutes(5) && delayMs <= minutes(15));
    assert.equal(decide(minutes(15), { firmware: read, ...change }), 'act');
  }
  assert.equal(decider()(0, { firmware: read, settings: settings('2025-12-31T23:00:00Z') }), 'rest');
});

test('nothing is read in other states, from a BMC that is not ready, or with --publish-firmware=false', () => {
  for (const state of ['Initial', 'Discovery', 'Cleanup', 'Maintenance', 'Parked', 'Error'])
    assert.equal(decider()(minutes(60), { state }), 'rest');
  assert.equal(decider()(minutes(60), { bmcState: 'Pending' }), 'rest');
  assert.equal(decider()(minutes(60), { publishesFirmware: false }), 'rest');
});

test('a failed reading is repeated after an hour, and later after longer pauses', () => {
  const pause = (failures: number) => Number(decider({ noticedAt: 0, failedAt: minutes(30), failures })(minutes(30)));
  assert.ok(pause(1) >= minutes(54) && pause(1) <= minutes(60));
  assert.ok(pause(3) >= minutes(216) && pause(3) <= minutes(240));
  assert.ok(pause(50) <= minutes(24 * 60));
});
