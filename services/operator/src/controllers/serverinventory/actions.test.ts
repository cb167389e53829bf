import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { Password } from '@metal/redfish/http/bmc.ts';
import { BmcConnectionPool } from '../../bmc-connections/connection-pool.ts';
import type { Connection } from '../../bmc-connections/connection.ts';
import { inventoryActions } from './actions.ts';
import type { InventoryMemory } from './facts.ts';

const at = (path: string) => ({ '@odata.id': path });
const system = '/redfish/v1/Systems/1';
const bios = `${system}/Bios`;
const update = '/redfish/v1/UpdateService';
const inventory = `${update}/FirmwareInventory`;
const firmware = (number: number): [string, object] => [`${inventory}/${number}`, { Id: `${number}`, Version: '1' }];
const members = Array.from({ length: 100 }, (_, number) => firmware(number));
const resources: Record<string, object> = {
  '/redfish/v1/': { Systems: at('/redfish/v1/Systems'), UpdateService: at(update) },
  [system]: { UUID: 'a', BiosVersion: '1.0', Bios: at(bios) },
  [bios]: { Attributes: { BootMode: 'Uefi', AdminPassword: null } },
  [update]: { FirmwareInventory: at(inventory) },
  [inventory]: { Members: members.map(([path]) => at(path)) },
  ...Object.fromEntries(members),
};

/** A BMC without $expand and with 100 members of FirmwareInventory, and the API server. */
async function openInventory() {
  const stack = new AsyncDisposableStack();
  const statusOf = new Map<string, number>();
  const requests: string[] = [];
  const server = createServer(({ url = '', method = '' }, response) => {
    if (method === 'GET') requests.push(url);
    const status = statusOf.get(url) ?? (url in resources ? 200 : 404);
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
  const memory: InventoryMemory = { noticedAt: 0, failedAt: undefined, failures: 0 };
  const writes: { status: { firmware: { components: unknown[]; omitted: number }; bios: object } }[] = [];
  const owner = { metadata: { name: 'one' }, spec: { systemUUID: 'a', systemURI: system } };
  const reconcile = {
    object: { metadata: { name: 'one', uid: 'uid-1' } },
    facts: { target: { bmcName: 'bmc', connection, servers: [owner] }, versions: { biosVersion: '1.0' } },
    context: { bmcConnections, clock, client: { apply: async (_kind: unknown, object: never) => writes.push(object) } },
    memory,
    signal: new AbortController().signal,
    log: { info: () => undefined },
  };
  return {
    statusOf,
    requests,
    memory,
    writes,
    failure: () => bmcConnections.observedBmc('bmc', connection).failure,
    // The members of a reconcile that the action uses.
    read: () =>
      inventoryActions.readFirmware(reconcile as unknown as Parameters<typeof inventoryActions.readFirmware>[0]),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

test('a reading is at most 40 requests and one write, and counts what it leaves out', async () => {
  await using machine = await openInventory();
  await machine.read();
  assert.ok(machine.requests.length <= 40, String(machine.requests.length));
  const [write, ...others] = machine.writes;
  assert.equal(others.length, 0);
  assert.deepEqual([write?.status.firmware.components.length, write?.status.firmware.omitted], [30, 70]);
  assert.deepEqual(write?.status.bios, { attributes: { BootMode: 'Uefi' } });
});

test('a BIOS without attributes does not keep the firmware from being published', async () => {
  await using machine = await openInventory();
  machine.statusOf.set(bios, 404);
  await machine.read();
  assert.deepEqual(
    [machine.writes[0]?.status.firmware.components.length, machine.writes[0]?.status.bios],
    [30, undefined],
  );
});

test('a BMC that is busy has not failed; nothing is written, and the attempt counts', async () => {
  await using machine = await openInventory();
  machine.statusOf.set(inventory, 503);
  await machine.read();
  assert.deepEqual(machine.writes, []);
  assert.equal(machine.failure(), undefined);
  assert.deepEqual(machine.memory, { noticedAt: 0, failedAt: 0, failures: 1 });
  machine.statusOf.clear();
  await machine.read();
  assert.equal(machine.memory.failures, 0);
});
