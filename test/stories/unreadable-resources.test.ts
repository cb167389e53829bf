import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { addForeignBmc } from '@metal/testenv/fleet/foreign-bmc.ts';

const startTestenv = testenvsOfFile();

const root = '/redfish/v1';
const [first, second] = ['11111111-0000-4000-8000-000000000001', '22222222-0000-4000-8000-000000000002'];
const link = (path: string) => ({ '@odata.id': `${root}/${path}` });
const collection = (path: string, ...ids: string[]) => ({
  [`${root}/${path}`]: { Members: ids.map((id) => link(`${path}/${id}`)) },
});
const reset = { '#ComputerSystem.Reset': {} };
const resources: Readonly<Record<string, object>> = {
  [`${root}/`]: { Systems: link('Systems'), Managers: link('Managers') },
  ...collection('Managers', 'BMC', 'HGX_BMC_0'),
  [`${root}/Managers/BMC`]: { UUID: 'bmc', GraphicalConsole: { MaxConcurrentSessions: 1 } },
  [`${root}/Managers/HGX_BMC_0`]: { UUID: 'hgx' },
  ...collection('Systems', '1', '2'),
  [`${root}/Systems/1`]: { UUID: first, PowerState: 'On', Actions: reset, Processors: link('Systems/1/Processors') },
  [`${root}/Systems/2`]: { UUID: second, PowerState: 'On', Actions: reset },
  ...collection('Systems/1/Processors', 'CPU1', 'CPU2'),
  [`${root}/Systems/1/Processors/CPU1`]: { Id: 'CPU1', Model: 'C-1' },
  [`${root}/Systems/1/Processors/CPU2`]: { Id: 'CPU2', Model: 'C-2' },
};

/** A BMC of two running machines that answers 500 for the broken paths, and its BMC object. */
async function addChassis(
  testenv: Testenv,
  broken: Set<string>,
  { name = 'chassis', more = {} }: { name?: string; more?: Readonly<Record<string, object>> } = {},
): Promise<AsyncDisposable> {
  const all = { ...resources, ...more };
  const server = createServer(({ url = '' }, response) => {
    const resource = all[url];
    response.statusCode = broken.has(url) ? 500 : resource === undefined ? 404 : 200;
    response.end(JSON.stringify(response.statusCode === 200 ? { '@odata.id': url, ...resource } : {}));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  await addForeignBmc(testenv.client, name, { port, scheme: 'http', username: 'admin', password: 'secret' });
  return {
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const processorsAre =
  (ids: string) =>
  ({ status }: Server): boolean =>
    status?.processors?.map(({ id }) => id).join() === ids;

test('an unreadable BMC resource is reported and keeps its last value, and everything else continues', async () => {
  await using testenv = await startTestenv({
    speed: 300,
    flags: ['--bmc-call-timeout=5h', '--bmc-resync-interval=1m'],
  });
  const broken = new Set(
    ['Managers/HGX_BMC_0', 'Systems/2', 'Systems/1/Processors/CPU1'].map((path) => `${root}/${path}`),
  );
  await using _chassis = await addChassis(testenv, broken);
  const [bmc, one, two] = [
    testenv.bmcs.named('chassis'),
    testenv.servers.withUuid(first),
    testenv.servers.withUuid(second),
  ];

  await bmc.reaches('Enabled');
  await bmc.hasCondition('InventoryComplete', 'False');
  const condition = bmc.condition('InventoryComplete');
  assert.equal(
    condition?.message,
    `2 resources cannot be read, first ${root}/Managers/HGX_BMC_0 (HTTP 500); last known values are kept`,
  );
  await one.until('has the readable processor', processorsAre('CPU2'));
  await one.hasCondition('InventoryComplete', 'False');
  assert.match(
    one.condition('InventoryComplete')?.message ?? '',
    /^1 resource cannot be read, first \S+CPU1 \(HTTP 500\)/,
  );
  assert.equal(two.now, undefined, 'its UUID is unknown');

  broken.clear();
  await two.exists();
  await bmc.hasCondition('InventoryComplete', 'True');
  await one.until('has both processors', processorsAre('CPU1,CPU2'));
  await one.hasCondition('InventoryComplete', 'True');
  await two.hasReason('RunningServerLeftAlone');

  broken.add(`${root}/Systems/1`);
  await one.hasReason('SystemUnreadable');
  await bmc.hasCondition('InventoryComplete', 'False');
  assert.ok(processorsAre('CPU1,CPU2')(one.now ?? assert.fail('the server is gone')));
  assert.equal(bmc.now?.status?.state, 'Enabled');
  assert.equal(two.condition('Ready')?.reason, 'RunningServerLeftAlone');

  broken.clear();
  await one.hasReason('RunningServerLeftAlone');
});

const node = { Manufacturer: 'Contoso', SerialNumber: 'SN1', PowerState: 'On', Actions: reset };
/** Two nodes that report the serial number of their blade and no UUID. */
const nodes = { [`${root}/Systems/1`]: node, [`${root}/Systems/2`]: node };

test('nodes that share a serial number get one Server each, once all can be read, also with two BMC objects', async () => {
  await using testenv = await startTestenv({
    speed: 300,
    flags: ['--bmc-call-timeout=5h', '--bmc-resync-interval=1m'],
  });
  const broken = new Set([`${root}/Systems/2`]);
  await using _chassis = await addChassis(testenv, broken, { more: nodes });
  const bmc = testenv.bmcs.named('chassis');
  await bmc.hasCondition('SystemsAccepted', 'False');
  assert.equal(
    bmc.condition('SystemsAccepted')?.message,
    `${root}/Systems/1 reports no UUID and gets its Server once ${root}/Systems/2 can be read: both may have one serial number`,
  );
  assert.equal(testenv.servers.size, 0);

  broken.clear();
  await bmc.hasCondition('SystemsAccepted', 'True');
  for (const system of [0, 1]) await testenv.servers.named(`chassis-system-${system}`).exists();

  const more = { ...nodes, ...collection('Systems', '1') };
  await using _half = await addChassis(testenv, new Set(), { name: 'half', more });
  await testenv.bmcs.named('half').hasReason('DuplicateSystemUUID');
  assert.match(
    testenv.bmcs.named('half').condition('SystemsAccepted')?.message ?? '',
    /so has BMC chassis; Server chassis-system-0 keeps it/,
  );
  await bmc.hasReason('DuplicateSystemUUID');
  assert.equal(testenv.servers.size, 2);
});
