import assert from 'node:assert/strict';
import { test } from 'node:test';
import { factoryAccount } from './access.ts';
import { startFleet } from './fleet.ts';
import { reportOf } from './hardware.ts';
import { profiles, vendors } from './profiles.ts';
import { clientOf, type TestResponse, testClient } from './test-client.ts';
import { fakeClock } from './fake-clock.ts';

const link = (value: unknown): string =>
  typeof value === 'object' && value !== null ? String(Reflect.get(value, '@odata.id')) : '';
const members = ({ body }: TestResponse): Record<string, unknown>[] =>
  Array.isArray(body.Members) ? body.Members : [];
const messageOf = ({ text }: TestResponse): string => /"MessageId":"Base\.1\.18\.(\w+)"/.exec(text)?.[1] ?? '';

test('the service root is public and everything else requires credentials', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add();
  const anonymous = testClient(node.bmc.url, {});
  assert.deepEqual((await anonymous.get('/redfish')).body, { v1: '/redfish/v1/' });
  assert.equal((await anonymous.get('/')).body.RedfishVersion, '1.17.0');
  assert.equal((await anonymous.get('/Systems')).status, 401);
  assert.equal((await clientOf(node, 'wrong').get('/Systems')).status, 401);
  assert.equal((await clientOf(node).get('/Systems')).status, 200);
  assert.equal(node.bmc.access.failedLogins, 1);
});

test('sessions are opened, counted, limited and deleted', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add({ quirks: { sessionCap: 2 } });
  const anonymous = testClient(node.bmc.url, {});
  const credentials = { UserName: node.bmc.username, Password: node.bmc.password };
  const logIn = () => anonymous.send('POST', '/SessionService/Sessions', credentials);
  assert.equal(
    (await anonymous.send('POST', '/SessionService/Sessions', { ...credentials, Password: 'no' })).status,
    401,
  );

  const first = await logIn();
  assert.equal(first.status, 201);
  const inSession = testClient(node.bmc.url, { 'x-auth-token': first.headers.get('x-auth-token') ?? '' });
  assert.equal((await inSession.get('/Systems')).status, 200);
  await logIn();
  const oneTooMany = await logIn();
  assert.equal(oneTooMany.status, 503);
  assert.equal(messageOf(oneTooMany), 'SessionLimitExceeded');
  assert.equal(node.bmc.openSessions, 2);

  assert.equal((await inSession.send('DELETE', first.headers.get('location') ?? '')).status, 204);
  assert.equal((await inSession.get('/Systems')).status, 401);
  assert.equal(node.bmc.openSessions, 1, 'an open session is visible as a leak');
  node.bmc.dropSessions();
  assert.equal(node.bmc.openSessions, 0);
});

test('an idle session expires', async () => {
  const clock = fakeClock();
  await using fleet = await startFleet({ clock });
  const node = await fleet.add({ quirks: { sessionIdleMs: 60_000 } });
  const { username: UserName, password: Password } = node.bmc;
  await testClient(node.bmc.url, {}).send('POST', '/SessionService/Sessions', { UserName, Password });
  clock.advance(59_000);
  assert.equal(node.bmc.openSessions, 1);
  clock.advance(2_000);
  assert.equal(node.bmc.openSessions, 0);
});

test('too many wrong passwords lock the account, also for the right one', async () => {
  const clock = fakeClock();
  await using fleet = await startFleet({ clock });
  const node = await fleet.add({ quirks: { lockAfterFailures: 2, lockForMs: 60_000 } });
  for (const _ of [1, 2]) await clientOf(node, 'wrong').get('/Systems');
  assert.equal((await clientOf(node).get('/Systems')).status, 401);
  clock.advance(61_000);
  assert.equal((await clientOf(node).get('/Systems')).status, 200);
});

test('a BMC without sessions has no session service', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add({ quirks: { sessionCap: undefined } });
  const root = await clientOf(node).get('/');
  assert.equal(root.body.SessionService, undefined);
  assert.equal((await clientOf(node).get('/SessionService')).status, 404);
  assert.equal((await testClient(node.bmc.url, {}).send('POST', '/SessionService/Sessions', {})).status, 404);
});

for (const vendor of vendors) {
  test(`the inventory of a ${vendor} BMC matches the report of the probe`, async () => {
    await using fleet = await startFleet();
    const node = await fleet.add({ vendor });
    const client = clientOf(node);
    const read = async (path: string) =>
      Promise.all(members(await client.get(path)).map(async (at) => (await client.get(link(at))).body));
    const [system] = await read('/Systems');
    assert.ok(system);
    const uri = link(system);
    const report = reportOf(node.machine.hardware, { profile: profiles[vendor], ipAddress: '10.0.0.1', now: 0 });
    assert.equal(String(system.UUID).toLowerCase(), report.systemInfo.systemInformation.uuid);
    assert.equal(system.SerialNumber, report.systemInfo.systemInformation.serialNumber);
    assert.equal(system.Manufacturer, report.systemInfo.systemInformation.manufacturer);
    assert.equal(Reflect.get(Object(system.Boot), 'BootSourceOverrideTarget'), 'None');
    assert.deepEqual(
      (await read(`${uri}/Memory`)).map((dimm) => dimm.SerialNumber),
      report.memory.map((dimm) => dimm.serialNumber),
    );
    assert.deepEqual(
      (await read(`${uri}/Processors`)).map((cpu) => cpu.Model),
      report.cpu.map((cpu) => cpu.model),
    );
    assert.deepEqual(
      (await read(`${uri}/EthernetInterfaces`)).map((nic) => String(nic.MACAddress).toLowerCase()),
      report.networkInterfaces.map((nic) => nic.macAddress),
    );
    const [manager] = await read('/Managers');
    assert.ok(Number(Reflect.get(Object(manager?.GraphicalConsole), 'MaxConcurrentSessions')) > 0);
    assert.deepEqual(
      await disksOf(system, read, (path) => client.get(path)),
      report.storage.map((disk) => disk.sizeBytes),
    );
    assert.equal((await read(`${uri}/BootOptions`)).length, 3);
    assert.equal((await read('/Chassis')).length, 1);
  });
}

async function disksOf(
  system: Record<string, unknown>,
  read: (path: string) => Promise<Record<string, unknown>[]>,
  get: (path: string) => Promise<TestResponse>,
): Promise<unknown[]> {
  if (system.Storage === undefined) {
    const [controller] = await read(link(system.SimpleStorage));
    return Array.isArray(controller?.Devices) ? controller.Devices.map((device) => device.CapacityBytes) : [];
  }
  const [controller] = await read(link(system.Storage));
  const volumes = await read(link(controller?.Volumes));
  if (volumes.length > 0) return volumes.map((volume) => volume.CapacityBytes);
  const drives = Array.isArray(controller?.Drives) ? controller.Drives : [];
  return Promise.all(drives.map(async (drive) => (await get(link(drive))).body.CapacityBytes));
}

test('$expand embeds members when the vendor supports it, and is rejected otherwise', async () => {
  await using fleet = await startFleet();
  const client = clientOf(await fleet.add({ vendor: 'hpe' }));
  const [storage] = members(await client.get('/Systems/1/Storage?$expand=.($levels=1)'));
  assert.equal(storage?.Id, 'DE00A000');
  const deep = members(await client.get('/Systems/1/Storage?$expand=*($levels=2)'))[0]?.Drives;
  assert.equal(Array.isArray(deep) && deep[0].MediaType, 'SSD');
  assert.equal((await client.get('/Systems?$expand=bogus')).status, 400);

  const old = await clientOf(await fleet.add({ vendor: 'supermicro' })).get('/Systems?$expand=.');
  assert.equal(old.status, 501);
});

test('a collection can have several pages', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add({ quirks: { pageSize: 3 } });
  const client = clientOf(node);
  const readIds: unknown[] = [];
  let next: string | undefined = '/redfish/v1/Systems/system/Memory?$expand=.';
  while (next !== undefined) {
    const page: TestResponse = await client.get(next);
    readIds.push(...members(page).map((dimm) => dimm.Id));
    next = typeof page.body['Members@odata.nextLink'] === 'string' ? page.body['Members@odata.nextLink'] : undefined;
  }
  assert.deepEqual(
    readIds,
    node.machine.hardware.dimms.map(({ id }) => id),
  );
});

test('a change of a resource that has changed since the read is rejected', async () => {
  await using fleet = await startFleet();
  const client = clientOf(await fleet.add());
  const etag = (await client.get('/Systems/system')).headers.get('etag') ?? '';
  const change = (ifMatch: string) =>
    client.send('PATCH', '/Systems/system', { AssetTag: ifMatch }, { 'if-match': ifMatch });
  assert.equal((await change(etag)).status, 204);
  assert.equal((await change(etag)).status, 412);
  assert.equal((await change('*')).status, 204);
  const now = (await client.get('/Systems/system')).headers.get('etag') ?? '';
  assert.equal((await client.get('/Systems/system', { 'if-none-match': now })).status, 304);
});

test('a change with one bad property changes nothing', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add();
  const change = async (body: unknown) => messageOf(await clientOf(node).send('PATCH', '/Systems/system', body));
  assert.equal(await change({ AssetTag: 'rack 7', Colour: 'red' }), 'PropertyUnknown');
  assert.equal(await change({ AssetTag: 'rack 7', PowerState: 'On' }), 'PropertyNotWritable');
  assert.equal(await change({ Boot: { BootSourceOverrideTarget: 'Floppy' } }), 'PropertyValueNotInList');
  assert.equal(await change({ Boot: { BootOrder: ['Boot9999'] } }), 'PropertyValueNotInList');
  assert.equal(node.machine.assetTag, '');
});

test('the light is set with the property of the vendor', async () => {
  await using fleet = await startFleet();
  const [older, newer] = [await fleet.add({ vendor: 'supermicro' }), await fleet.add({ vendor: 'generic' })];
  const hpe = await fleet.add({ vendor: 'hpe' });
  assert.equal((await clientOf(older).send('PATCH', '/Systems/1', { IndicatorLED: 'Blinking' })).status, 200);
  assert.equal((await clientOf(older).send('PATCH', '/Systems/1', { LocationIndicatorActive: true })).status, 400);
  assert.equal((await clientOf(hpe).send('PATCH', '/Systems/1', { LocationIndicatorActive: true })).status, 200);
  assert.equal((await clientOf(hpe).get('/Systems/1')).body.IndicatorLED, 'Lit');
  assert.equal((await clientOf(newer).send('PATCH', '/Systems/system', { LocationIndicatorActive: true })).status, 204);
  assert.equal((await clientOf(newer).send('PATCH', '/Systems/system', { IndicatorLED: 'Lit' })).status, 400);
  assert.deepEqual([older.machine.led, newer.machine.led], ['Blinking', 'Lit']);
});

const once = { BootSourceOverrideEnabled: 'Once', BootSourceOverrideTarget: 'Pxe' };

test('each vendor accepts a one-time network boot only in its own form', async () => {
  await using fleet = await startFleet();
  const attempt = async (vendor: Parameters<typeof fleet.add>[0], path: string, boot: object) => {
    const node = await fleet.add(vendor);
    const { status } = await clientOf(node).send('PATCH', path, { Boot: boot });
    return `${status} ${node.machine.override?.target ?? '-'}`;
  };
  const withMode = { ...once, BootSourceOverrideMode: 'UEFI' };
  assert.equal(await attempt({ vendor: 'generic' }, '/Systems/system', once), '204 Pxe');
  assert.equal(await attempt({ vendor: 'dell' }, '/Systems/System.Embedded.1', once), '400 -');
  assert.equal(await attempt({ vendor: 'dell' }, '/Systems/System.Embedded.1/Settings', once), '200 Pxe');
  assert.equal(await attempt({ vendor: 'dell-idrac9' }, '/Systems/System.Embedded.1', once), '200 Pxe');
  assert.equal(await attempt({ vendor: 'supermicro' }, '/Systems/1', once), '200 -');
  assert.equal(await attempt({ vendor: 'supermicro' }, '/Systems/1', withMode), '200 Pxe');
  assert.equal(await attempt({ vendor: 'supermicro-x10' }, '/Systems/1', withMode), '400 -');
  assert.equal(await attempt({ vendor: 'supermicro-x10' }, '/Systems/1', once), '200 Pxe');
});

test('an override can be disabled, and the boot order stays', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add();
  const change = (boot: object) => clientOf(node).send('PATCH', '/Systems/system', { Boot: boot });
  await change({ ...once, BootSourceOverrideTarget: 'UefiHttp', HttpBootUri: 'http://boot/x.efi' });
  assert.deepEqual(node.machine.override, { target: 'UefiHttp', isOnce: true, httpUri: 'http://boot/x.efi' });
  await change({ ...once, BootSourceOverrideTarget: 'UefiHttp', HttpBootUri: '' });
  assert.equal(node.machine.override.httpUri, undefined, 'an empty address is none');
  await change({ BootSourceOverrideEnabled: 'Disabled' });
  assert.equal(node.machine.override, undefined);
  await change({
    BootSourceOverrideEnabled: 'Continuous',
    BootSourceOverrideTarget: 'None',
    BootOrder: ['Boot0002', 'Boot0001'],
  });
  assert.deepEqual(node.machine.bootOrder, ['Boot0002', 'Boot0001']);
});

const reset = '/Actions/ComputerSystem.Reset';

test('a power change takes time and is visible meanwhile', async () => {
  const clock = fakeClock();
  await using fleet = await startFleet({ clock, powerOnMs: 500, powerOffMs: 700 });
  const node = await fleet.add();
  const client = clientOf(node);
  const power = async () => (await client.get('/Systems/system')).body.PowerState;
  assert.equal((await client.send('POST', `/Systems/system${reset}`, { ResetType: 'On' })).status, 204);
  assert.equal(await power(), 'PoweringOn');
  clock.advance(500);
  assert.equal(await power(), 'On');
  await client.send('POST', `/Systems/system${reset}`, { ResetType: 'GracefulShutdown' });
  clock.advance(699);
  assert.equal(await power(), 'PoweringOff');
  clock.advance(1);
  assert.equal(await power(), 'Off');
  assert.deepEqual(node.powerLog, ['On', 'Off']);
});

test('resets without an effect are rejected as by the vendor', async () => {
  await using fleet = await startFleet();
  const requestReset = async (vendor: 'generic' | 'dell' | 'hpe', type: unknown) => {
    const node = await fleet.add({ vendor });
    const { systemId } = node.machine;
    return (await clientOf(node).send('POST', `/Systems/${systemId}${reset}`, { ResetType: type })).status;
  };
  assert.equal(await requestReset('generic', 'ForceOff'), 204);
  assert.equal(await requestReset('dell', 'ForceOff'), 409);
  assert.equal(await requestReset('hpe', 'GracefulRestart'), 400);
  assert.equal(await requestReset('hpe', 'PowerCycle'), 400, 'not offered');
  assert.equal(await requestReset('generic', 7), 400);
  assert.equal(await requestReset('generic', undefined), 400);
});

test('a BMC that restarts is unreachable for a while and loses its sessions, not its machine', async () => {
  const clock = fakeClock();
  await using fleet = await startFleet({ clock, bmcRestartMs: 5_000 });
  const node = await fleet.add({ vendor: 'hpe', inUse: true });
  const client = clientOf(node);
  const { username: UserName, password: Password } = node.bmc;
  await client.send('POST', '/SessionService/Sessions', { UserName, Password });
  const before = (await client.get('/Managers/1')).body.LastResetTime;
  assert.equal((await client.send('POST', '/Managers/1/Actions/Manager.Reset', {})).status, 200);
  clock.advance(4_999);
  await assert.rejects(client.get('/'), { name: 'TypeError' });
  clock.advance(1);
  await node.bmc.whenStable();
  assert.notEqual((await client.get('/Managers/1')).body.LastResetTime, before);
  assert.equal(node.bmc.openSessions, 0);
  assert.equal(node.power, 'On');
});

test('a BMC that is reset to defaults has its factory account only', async () => {
  const clock = fakeClock();
  await using fleet = await startFleet({ clock, bmcRestartMs: 1_000 });
  const node = await fleet.add({ vendor: 'generic' });
  const client = clientOf(node);
  const action = '/Managers/bmc/Actions/Manager.ResetToDefaults';
  assert.equal((await client.send('POST', action, { ResetType: 'Everything' })).status, 400);
  assert.equal((await client.send('POST', action, { ResetType: 'ResetAll' })).status, 204);
  clock.advance(1_000);
  await node.bmc.whenStable();
  assert.equal((await client.get('/Managers/bmc')).status, 401);
  assert.deepEqual(
    node.bmc.access.accounts.map(({ username }) => username),
    [factoryAccount.username],
  );
});

test('several systems of one BMC are independent', async () => {
  await using fleet = await startFleet({ clock: fakeClock() });
  const node = await fleet.add({ vendor: 'dell', systems: 2 });
  const client = clientOf(node);
  const [first, second] = members(await client.get('/Systems?$expand=.'));
  assert.notEqual(first?.UUID, second?.UUID);
  assert.equal(second?.Id, 'System.Embedded.2');
  await client.send('POST', `/Systems/System.Embedded.2${reset}`, { ResetType: 'On' });
  assert.deepEqual(
    node.machines.map(({ power }) => power),
    ['Off', 'PoweringOn'],
  );
});

test('accounts are created, changed and deleted, or filled on a BMC with fixed slots', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add({ vendor: 'lenovo' });
  const client = clientOf(node);
  const made = await client.send('POST', '/AccountService/Accounts', {
    UserName: 'ada',
    Password: 'correct horse',
    RoleId: 'Operator',
  });
  assert.equal(made.status, 201);
  const uri = made.headers.get('location') ?? '';
  assert.equal((await client.send('PATCH', uri, { Password: 'short' })).status, 400);
  assert.equal((await client.send('PATCH', uri, { Password: 'battery staple' })).status, 204);
  assert.equal((await client.get(uri)).body.Password, null);
  assert.equal((await client.send('DELETE', uri)).status, 204);
  assert.equal((await client.get(uri)).status, 404);

  const dell = clientOf(await fleet.add({ vendor: 'dell' }));
  assert.equal((await dell.send('POST', '/AccountService/Accounts', {})).status, 405);
});

test('subscriptions are stored once each, without the properties that the vendor rejects', async () => {
  await using fleet = await startFleet();
  const client = clientOf(await fleet.add({ vendor: 'hpe' }));
  const subscription = { Destination: 'http://listener/', Protocol: 'Redfish', Context: 'metal-operator' };
  const subscribe = (more: object) => client.send('POST', '/EventService/Subscriptions', { ...subscription, ...more });
  assert.equal((await subscribe({ DeliveryRetryPolicy: 'TerminateAfterRetries' })).status, 400);
  const made = await subscribe({});
  assert.equal(made.status, 201);
  assert.equal(messageOf(await subscribe({})), 'ResourceAlreadyExists');
  assert.equal((await client.send('DELETE', made.headers.get('location') ?? '')).status, 204);
  assert.equal(members(await client.get('/EventService/Subscriptions')).length, 0);
});

test('BIOS attributes take effect at the next start', async () => {
  const clock = fakeClock();
  await using fleet = await startFleet({ clock });
  const node = await fleet.add();
  const client = clientOf(node);
  await client.send('PATCH', '/Systems/system/Bios/Settings', { Attributes: { LogicalProc: 'Disabled' } });
  assert.equal(
    (await client.send('PATCH', '/Systems/system/Bios/Settings', { Attributes: { Nonsense: 1 } })).status,
    400,
  );
  assert.equal(node.machine.biosAttributes.LogicalProc, 'Enabled');
  node.machine.turnOn();
  clock.advance(500);
  assert.equal(node.machine.biosAttributes.LogicalProc, 'Disabled');
});

test('a reset of the BIOS takes effect at the next start, discards earlier changes, and may get stuck', async () => {
  const clock = fakeClock();
  await using fleet = await startFleet({ clock });
  const node = await fleet.add();
  const client = clientOf(node);
  const reset = '/Systems/system/Bios/Actions/Bios.ResetBios';
  const isPending = async () => (await client.get('/Systems/system/Bios')).body.ResetBiosToDefaultsPending;
  node.machine.biosAttributes = { ...node.machine.biosAttributes, LogicalProc: 'Disabled' };
  const change = { Attributes: { WorkloadProfile: 'Performance' } };
  assert.equal((await client.send('PATCH', '/Systems/system/Bios/Settings', change)).status, 204);
  node.bmc.set({ biosResetStuck: true }, { times: 1 });
  for (const end of ['stuck', 'done']) {
    assert.equal((await client.send('POST', reset, {})).status, 204);
    assert.equal(await isPending(), true);
    node.machine.turnOn();
    clock.advance(500);
    assert.equal(await isPending(), end === 'stuck');
    assert.equal(node.machine.biosAttributes.LogicalProc, end === 'stuck' ? 'Disabled' : 'Enabled');
    node.machine.cutOff();
  }
  assert.equal(node.machine.biosAttributes.WorkloadProfile, 'Balanced');
  node.bmc.set({ lacksBiosReset: true });
  assert.equal((await client.get('/Systems/system/Bios')).body.Actions, undefined);
  assert.equal((await client.send('POST', reset, {})).status, 404);
});

test('the requests to a BMC are recorded by client', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add();
  await clientOf(node).get('/Systems/system/Memory/DIMM3');
  const [peer] = node.bmc.peers;
  assert.equal(peer?.requests, 1);
  assert.deepEqual(
    node.bmc.requests.map(({ method, route, status, client }) => ({ method, route, status, client })),
    [{ method: 'GET', route: '/redfish/v1/Systems/{id}/Memory/{id}', status: 200, client: `${peer?.port}/basic` }],
  );
  assert.equal(node.bmc.traffic.peakInFlight, 1);
});

test('a new account can log in, its wrong passwords are counted, and it is gone after its deletion', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add({ vendor: 'generic' });
  const body = { UserName: 'second', Password: 'long-enough-1', RoleId: 'Operator' };
  const made = await clientOf(node).send('POST', '/AccountService/Accounts', body);
  const basic = (password: string) =>
    testClient(node.bmc.url, { authorization: `Basic ${Buffer.from(`second:${password}`).toString('base64')}` });
  assert.equal((await basic('long-enough-1').get('/Systems')).status, 200);
  assert.equal((await basic('wrong').get('/Systems')).status, 401);
  assert.equal(node.bmc.access.failedLogins, 1);
  await clientOf(node).send('DELETE', made.headers.get('location') ?? '');
  assert.equal((await basic('long-enough-1').get('/Systems')).status, 401);
});

test('empty slots are listed and allow no login', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add({ vendor: 'dell' });
  const client = clientOf(node);
  assert.equal(members(await client.get('/AccountService/Accounts')).length, 16);
  assert.equal((await client.get('/AccountService/Accounts/3')).body.UserName, '');
  const nobody = testClient(node.bmc.url, { authorization: `Basic ${Buffer.from(':').toString('base64')}` });
  assert.equal((await nobody.get('/Systems')).status, 401);
});

test('a role without a password is rejected when the vendor requires both', async () => {
  await using fleet = await startFleet();
  const client = clientOf(await fleet.add({ vendor: 'gigabyte' }));
  const account = '/AccountService/Accounts/1';
  assert.equal((await client.send('PATCH', account, { RoleId: 'Operator' })).status, 400);
  assert.equal((await client.send('PATCH', account, { RoleId: 'Operator', Password: 'long-enough-1' })).status, 200);
});

test('passwords are checked against the bounds of the service, and do not expire after a change', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add({ vendor: 'supermicro' });
  const client = clientOf(node);
  const service = (await client.get('/AccountService')).body;
  assert.deepEqual([service.MinPasswordLength, service.MaxPasswordLength], [8, 20]);
  const account = '/AccountService/Accounts/1';
  assert.equal((await client.send('PATCH', account, { Password: 'x'.repeat(21) })).status, 400);
  const [first] = node.bmc.access.accounts;
  assert.ok(first);
  first.passwordExpiration = '2026-01-01T00:00:00Z';
  assert.equal((await client.get(account)).body.PasswordExpiration, '2026-01-01T00:00:00Z');
  assert.equal((await client.send('PATCH', account, { Password: 'x'.repeat(20) })).status, 200);
  assert.equal((await clientOf(node).get(account)).body.PasswordExpiration, undefined);
});
