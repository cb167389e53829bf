import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { Bmc, Password } from '@metal/redfish/http/bmc.ts';
import { compareAttributes } from '@metal/redfish/resources/attributes.ts';
import { readBiosAttributes, writeBiosAttributes } from '@metal/redfish/resources/bios-attributes.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { addForeignBmc } from '@metal/testenv/fleet/foreign-bmc.ts';
import { startSushy } from '@metal/testenv/fleet/sushy.ts';

const startTestenv = testenvsOfFile();
const systems = [
  { uuid: 'aaaaaaaa-1111-4111-8111-111111111111', name: 'first', mac: '52:54:00:00:00:01' },
  { uuid: 'bbbbbbbb-2222-4222-8222-222222222222', name: 'second', mac: '52:54:00:00:00:02' },
];

for (const tls of [false, true]) {
  test(`a BMC emulated by sushy-tools is discovered ${tls ? 'with its certificate verified' : 'with Basic authentication'}`, async () => {
    await using sushy = await startSushy({ systems, username: 'operator', password: 'opensesame', tls });
    // Real time: the service takes 1 to 11 s for a power change.
    await using testenv = await startTestenv({
      speed: 1,
      flags: ['--discovery-timeout=20s', '--power-polling-interval=1s', '--discovery-attempts=9'],
    });
    await addForeignBmc(testenv.client, 'sushy', {
      port: sushy.port,
      scheme: tls ? 'https' : 'http',
      username: 'operator',
      password: 'opensesame',
      ...(sushy.caPem === undefined ? {} : { caPem: sushy.caPem }),
    });
    await testenv.bmcs.named('sushy').reaches('Enabled');

    for (const { uuid } of systems) {
      const server = testenv.servers.withUuid(uuid);
      await server.reaches('Discovery');
      assert.equal(server.now?.spec.systemUUID, uuid);
      assert.equal(server.now?.status?.manufacturer, 'Sushy Emulator', 'its hardware information is read');
      assert.match(server.now?.metadata.name ?? '', /^sushy-system-[01]$/);
    }

    const [first] = systems;
    assert.ok(first);
    await testenv.servers.withUuid(first.uuid).until('is On', ({ status }) => status?.powerState === 'On');
    const seen = await sushy.system(first.uuid);
    assert.equal(seen.PowerState, 'On', 'the power-on arrived');
    assert.equal(seen.Boot.BootSourceOverrideTarget, 'Pxe', 'the one-time override arrived');

    await testenv.servers
      .withUuid(first.uuid)
      .until('has been switched off for another attempt', ({ status }) => status?.powerState === 'Off');
    assert.equal((await sushy.system(first.uuid)).PowerState, 'Off', 'the power-off arrived');
  });
}

test('a wrong password for sushy-tools is reported and not retried', async () => {
  await using sushy = await startSushy({ systems, username: 'operator', password: 'opensesame', tls: false });
  await using testenv = await startTestenv();
  await addForeignBmc(testenv.client, 'sushy', {
    port: sushy.port,
    scheme: 'http',
    username: 'operator',
    password: 'guess',
  });
  const { status } = await testenv.bmcs.named('sushy').hasReason('AuthenticationFailed');
  assert.equal(status?.state, 'Error');
  assert.equal(testenv.servers.size, 0);
});

/** Every value is a text, whatever the registry defines. */
const bios = {
  BootMode: 'Uefi',
  EmbeddedSata: 'Raid',
  NumCores: '10',
  QuietBoot: 'true',
  SecureBootStatus: 'Enabled',
  SerialNumber: 'QPX12345',
  SysPassword: '',
};

test('BIOS attributes of sushy-tools are compared by its registry, whose locator has another name, and changed', async () => {
  const credentials = { username: 'operator', password: 'opensesame' };
  await using sushy = await startSushy({ systems, ...credentials, tls: false, bios });
  await using bmc = new Bmc({
    endpoint: { scheme: 'http', host: '127.0.0.1', port: sushy.port },
    credentials: { username: credentials.username, password: new Password(credentials.password) },
    clock: systemClock,
  });
  const uri = `/redfish/v1/Systems/${systems[0]?.uuid}`;
  const observed = await readBiosAttributes(bmc, uri);
  assert.deepEqual(observed.pending, {}, 'its settings object lists all attributes');
  assert.equal(observed.registry?.definitions.get('QuietBoot')?.type, 'Boolean');

  const desired = { BootMode: 'BIOS', EmbeddedSata: 'RAID Mode', NumCores: '10', QuietBoot: 'false' };
  const { changes, problems } = compareAttributes(desired, observed);
  assert.deepEqual(problems, []);
  assert.deepEqual(
    changes.map(({ name, to }) => [name, to]),
    [
      ['BootMode', 'Bios'],
      ['QuietBoot', false],
    ],
  );
  await writeBiosAttributes(bmc, uri, () => changes);
  assert.deepEqual(compareAttributes(desired, await readBiosAttributes(bmc, uri)).changes, []);

  const wrong = { BootMode: 'Both', NumCores: '11', SecureBootStatus: 'Disabled', SerialNumber: 'x'.repeat(17) };
  assert.deepEqual(
    compareAttributes(wrong, observed).problems.map(({ name }) => name),
    ['BootMode', 'NumCores', 'SecureBootStatus', 'SerialNumber'],
  );
});
