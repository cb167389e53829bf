import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { Password } from '@metal/redfish/http/bmc.ts';
import { BmcConnectionPool } from '../../../bmc-connections/connection-pool.ts';
import type { Connection } from '../../../bmc-connections/connection.ts';
import type { ServerReconcile } from '../machine.ts';
import { calmServer } from '../../../../test/server/table.rows.ts';
import { readUnhealthyParts } from './actions.ts';

const uri = '/redfish/v1/Systems/1';
const chassis = '/redfish/v1/Chassis/1';
const power = `${chassis}/Power`;
const thermal = `${chassis}/Thermal`;
const at = (path: string) => ({ '@odata.id': path });
const bad = (Name: string) => ({ Name, Status: { Health: 'Warning' } });
const psu = { name: 'PSU 2', health: 'Warning' } as const;
const fan = { name: 'Fan 4', health: 'Warning' } as const;
const resources: Record<string, object> = {
  '/redfish/v1/': { Systems: at('/redfish/v1/Systems') },
  [uri]: { UUID: 'a', Status: { Health: 'Warning' }, Links: { Chassis: [at(chassis)] } },
  [chassis]: { Power: at(power), Thermal: at(thermal) },
  [power]: { PowerSupplies: [bad(psu.name)] },
  [thermal]: { Fans: [bad(fan.name)] },
};

/** A machine with a power supply and a fan that are not OK. A path with status 0 is never answered. */
async function openUnhealthyMachine() {
  const stack = new AsyncDisposableStack();
  const statusOf = new Map<string, number>();
  const unanswered = Promise.withResolvers<void>();
  const server = createServer(({ url = '' }, response) => {
    const status = statusOf.get(url) ?? (url in resources ? 200 : 404);
    if (status === 0) return unanswered.resolve();
    response.statusCode = status;
    response.end(JSON.stringify(status === 200 ? { ...at(url), ...resources[url] } : {}));
  });
  stack.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  const clock = fakeClock();
  const bmcConnections = stack.use(new BmcConnectionPool({ clock, random: () => 0, callDeadlineMs: minutes(10) }));
  const connection: Connection = {
    endpoint: { scheme: 'http', host: '127.0.0.1', port, tls: {} },
    username: 'root',
    password: new Password('calvin'),
  };
  bmcConnections.observedBmc('bmc', connection);
  const stop = new AbortController();
  const reconcile = {
    object: { metadata: { uid: 'uid-1' }, spec: { systemUUID: 'a', systemURI: uri } },
    facts: { ...calmServer, bmcName: 'bmc', connection, health: { level: 'Warning', parts: undefined } },
    context: { bmcConnections, clock },
    signal: stop.signal,
  };
  return {
    clock,
    stop,
    statusOf,
    unanswered: unanswered.promise,
    memory: bmcConnections.observedSystem('uid-1'),
    failure: () => bmcConnections.observedBmc('bmc', connection).failure,
    // The members of a reconcile that the action uses.
    read: () => readUnhealthyParts(reconcile as unknown as ServerReconcile),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

test('a BMC that is busy or fails while the parts are read has not failed, and parts found before are kept', async () => {
  await using machine = await openUnhealthyMachine();
  await machine.read();
  assert.deepEqual(machine.memory.unhealthyParts?.parts, [psu, fan]);
  machine.statusOf.set(thermal, 503);
  await machine.read();
  assert.deepEqual(machine.memory.unhealthyParts?.parts, [psu]);
  machine.statusOf.set(uri, 502);
  await machine.read();
  assert.equal(machine.failure(), undefined);
});

test('a reading that fails before it finds a part keeps those of the former reading, and counts as an attempt', async () => {
  await using machine = await openUnhealthyMachine();
  machine.statusOf.set(uri, 503);
  await machine.read();
  assert.deepEqual(machine.memory.unhealthyParts, { level: 'Warning', parts: undefined, at: 0 });
  machine.statusOf.clear();
  await machine.read();
  machine.statusOf.set(chassis, 503);
  machine.clock.advance(minutes(15));
  await machine.read();
  assert.deepEqual(machine.memory.unhealthyParts, { level: 'Warning', parts: [psu, fan], at: minutes(15) });
});

test('the parts are read for 20 seconds at most', async () => {
  await using machine = await openUnhealthyMachine();
  machine.statusOf.set(thermal, 0);
  const reading = machine.read();
  await machine.unanswered;
  machine.clock.advance(seconds(20));
  await reading;
  assert.deepEqual(machine.memory.unhealthyParts?.parts, [psu]);
  assert.equal(machine.failure(), undefined);
});

test('the end of the reconcile ends the reading, and nothing is recorded', async () => {
  await using machine = await openUnhealthyMachine();
  machine.statusOf.set(thermal, 0);
  const reading = machine.read();
  await machine.unanswered;
  machine.stop.abort();
  await assert.rejects(reading, { name: 'AbortError' });
  assert.equal(machine.memory.unhealthyParts, undefined);
});
