import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { Bmc, Password } from '@metal/redfish/http/bmc.ts';
import { compareAttributes, type ObservedAttributes } from '@metal/redfish/resources/attributes.ts';
import {
  clearPendingBiosAttributes,
  readBiosAttributes,
  writeBiosAttributes,
} from '@metal/redfish/resources/bios-attributes.ts';
import { readBmcSettings, writeBmcSettings } from '@metal/redfish/resources/bmc-settings.ts';
import { resetSystem } from '@metal/redfish/resources/power.ts';
import { readSystem } from '@metal/redfish/resources/systems.ts';
import type { Attribute } from '@metal/simulator/attributes/attribute-set.ts';
import { type NodeOptions, startFleet } from '@metal/simulator/fleet.ts';
import { profiles, vendors } from '@metal/simulator/profiles.ts';

const timeoutSignal = () => AbortSignal.timeout(60_000);

async function openFixture(options: NodeOptions) {
  const stack = new AsyncDisposableStack();
  const fleet = stack.use(await startFleet({ powerOnMs: 10, powerOffMs: 10, bootMs: 10, bmcRestartMs: 10 }));
  const node = await fleet.add(options);
  const { address: host, port, username, password } = node.bmc;
  const credentials = { username, password: new Password(password) };
  const bmc = stack.use(new Bmc({ endpoint: { scheme: 'http', host, port }, credentials, clock: systemClock }));
  const uri = `/redfish/v1/Systems/${node.machine.systemId}`;
  const start = async () => {
    await resetSystem(bmc, uri, 'On');
    await node.until(({ power }) => power === 'On', timeoutSignal());
  };
  const countRequests = async (work: () => Promise<unknown>) => {
    const before = node.bmc.traffic.total;
    await work();
    return node.bmc.traffic.total - before;
  };
  return { node, bmc, uri, start, countRequests, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** The first attribute of a type that can be changed without a condition. */
function writable(attributes: readonly Attribute[], type: Attribute['type']): Attribute {
  const found = attributes.find(
    (each) =>
      each.type === type &&
      each.resetRequired !== false &&
      [each.readOnly, each.hidden, each.immutable, each.writableIf].every((mark) => mark === undefined),
  );
  return found ?? assert.fail(`no writable ${type}`);
}

for (const vendor of vendors) {
  const profile = profiles[vendor];
  const { attributes, registryId } = profile.bios;
  const choice = writable(attributes, 'Enumeration');
  const [valueName, displayName] = choice.values?.[1] ?? assert.fail();
  suite(vendor, { concurrency: true }, () => {
    test('BIOS attributes are read with few requests, and their registry once', async () => {
      await using fixture = await openFixture({ vendor });
      const { bmc, uri } = fixture;
      const read = () => readBiosAttributes(bmc, uri);
      await readSystem(bmc, uri); // Login and service root are no part of it.
      assert.ok((await fixture.countRequests(read)) <= 6);
      assert.ok((await fixture.countRequests(read)) <= 3);
      const { current, pending, registry, isResetPending } = await read();
      assert.deepEqual({ ...current }, { ...fixture.node.machine.factoryBios });
      assert.deepEqual([pending, isResetPending], [{}, false]);
      assert.equal(registry?.definitions.size, registryId === undefined ? undefined : attributes.length);
    });

    test('BIOS attributes are set at the next start, once', async () => {
      await using fixture = await openFixture({ vendor });
      const { bmc, uri, node } = fixture;
      const [text, number] = [writable(attributes, 'String'), writable(attributes, 'Integer')];
      const desired = {
        [choice.name]: registryId === undefined ? valueName : displayName,
        [text.name]: 'rack 7',
        [number.name]: `${number.highest}`,
      };
      const compared = compareAttributes(desired, await readBiosAttributes(bmc, uri));
      assert.deepEqual(compared.problems, []);
      assert.equal(compared.changes.length, 3);
      await writeBiosAttributes(bmc, uri, () => compared.changes, { expectedUuid: node.uuid });
      const waiting = await readBiosAttributes(bmc, uri);
      const expected = { [choice.name]: valueName, [text.name]: 'rack 7', [number.name]: number.highest };
      assert.deepEqual(waiting.current, { ...node.machine.factoryBios }, 'not before a start');
      if (profile.biosSettings !== undefined) assert.deepEqual({ ...waiting.pending }, expected);
      await fixture.start();
      const after = await readBiosAttributes(bmc, uri);
      assert.deepEqual(after.current, { ...node.machine.factoryBios, ...expected });
      assert.deepEqual(compareAttributes(desired, after), { changes: [], problems: [] });
    });

    // The others have no settings object.
    if (profile.biosSettings !== undefined)
      test('pending BIOS attributes of others are seen, and withdrawn', async () => {
        await using fixture = await openFixture({ vendor });
        const { bmc, uri, node } = fixture;
        node.bmc.setPendingBios({ [choice.name]: valueName });
        assert.deepEqual({ ...(await readBiosAttributes(bmc, uri)).pending }, { [choice.name]: valueName });
        await clearPendingBiosAttributes(bmc, uri, { expectedUuid: node.uuid });
        assert.deepEqual((await readBiosAttributes(bmc, uri)).pending, {});
        await fixture.start();
        assert.deepEqual({ ...node.machine.biosAttributes }, { ...node.machine.factoryBios });
      });

    test('a resource of the manager is changed once', async () => {
      await using fixture = await openFixture({ vendor });
      const { bmc, node } = fixture;
      const path = `/redfish/v1/Managers/${profile.managerId}/NetworkProtocol`;
      const desired = { [`PATCH ${path}`]: '{"NTP":{"ProtocolEnabled":true,"NTPServers":["10.0.0.1","10.0.0.2"]}}' };
      const { changes, ...rest } = await readBmcSettings(bmc, node.bmc.managerUuid, desired);
      assert.deepEqual(rest, { problems: [], pending: [], needsReset: false });
      await writeBmcSettings(bmc, node.bmc.managerUuid, desired, changes);
      assert.deepEqual((await readBmcSettings(bmc, node.bmc.managerUuid, desired)).changes, []);
      assert.equal(node.bmc.requests.filter(({ method }) => method === 'PATCH').length, 1);
    });
  });
}

const observe = (observed: ObservedAttributes, desired: Record<string, string>) =>
  compareAttributes(desired, observed).problems.map(({ name, message }) => `${name}: ${message}`);

test('what the registry forbids is a problem before anything is sent', async () => {
  await using fixture = await openFixture({ vendor: 'dell' });
  const observed = await readBiosAttributes(fixture.bmc, fixture.uri);
  assert.deepEqual(
    observe(observed, {
      LogicalProcs: 'Disabled',
      ProcCStates: 'Disabled',
      AcPwrRcvryUserDelay: '30',
      SystemServiceTag: 'X',
    }),
    [
      'AcPwrRcvryUserDelay: is read-only because of AcPwrRcvryDelay',
      'LogicalProcs: is unknown; did you mean LogicalProc?',
      'ProcCStates: is read-only because of SysProfile',
      'SystemServiceTag: is read-only',
    ],
  );
  assert.deepEqual(observe(observed, { SysProfile: 'Custom', ProcCStates: 'Disabled' }), []);
});

test('the registry is found in a collection of several pages', async () => {
  await using fixture = await openFixture({ vendor: 'dell', quirks: { pageSize: 1 } });
  const { registry } = await readBiosAttributes(fixture.bmc, fixture.uri);
  assert.equal(registry?.definitions.size, profiles.dell.bios.attributes.length);
});

test('a settings object that lists everything has only what waits as pending', async () => {
  await using fixture = await openFixture({ vendor: 'generic' });
  fixture.node.bmc.mirrorSettings();
  fixture.node.bmc.setPendingBios({ BootMode: 'LegacyBios' });
  assert.deepEqual((await readBiosAttributes(fixture.bmc, fixture.uri)).pending, { BootMode: 'LegacyBios' });
});

test('an attribute that the BMC rejects is named in the error', async () => {
  await using fixture = await openFixture({ vendor: 'generic' });
  const { bmc, uri, node } = fixture;
  node.bmc.rejectAttribute('BootMode');
  const { changes } = compareAttributes({ BootMode: 'LegacyBios' }, await readBiosAttributes(bmc, uri));
  await assert.rejects(
    writeBiosAttributes(bmc, uri, () => changes),
    { code: 'HttpError', status: 400, message: /BootMode/ },
  );
});

/** Settings of managers: with their changes, and what is equal to them once they are applied. */
const managerSettings: [title: string, options: NodeOptions, desired: Record<string, string>, needsReset: boolean][] = [
  ['attributes of a manager', { vendor: 'generic' }, { abc: 'x', NtpEnabled: 'true' }, false],
  ['attributes that need a restart', { vendor: 'generic' }, { fooreboot: '7', LinkSpeed: '1000' }, true],
  [
    'attributes in three groups',
    { vendor: 'dell' },
    {
      'NTPConfigGroup.1.NTPEnable': 'Enabled',
      'WebServer.1.Timeout': '600',
      'WebServer.1.TLSProtocol': 'TLS 1.3 Only',
      'System.Embedded.1/Location.1.Name': 'rack 7',
      'ServerPwr.1.PowerCapValue': '700',
      'LCAttributes.1.AutoUpdate': 'Enabled',
    },
    true,
  ],
  [
    'resources and members of iLO',
    { vendor: 'hpe' },
    {
      'PATCH /redfish/v1/Managers/1/SnmpService': '{"Location":"rack 7","ReadCommunities":["a","b",""]}',
      'POST /redfish/v1/Managers/1/SnmpService/SNMPUsers': '{"SecurityName":"probe","AuthPassphrase":"correct-horse"}',
    },
    false,
  ],
  [
    'resources of XCC',
    { vendor: 'lenovo' },
    { 'PATCH /redfish/v1/Managers/1/NetworkProtocol/Oem/Lenovo/SNMP': '{"SNMPTraps":{"ProtocolEnabled":true}}' },
    false,
  ],
  [
    'resources and accounts of Supermicro',
    { vendor: 'supermicro' },
    {
      'PATCH /redfish/v1/Managers/1/Oem/Supermicro/NTP': '{"NTPEnable":true,"PrimaryNTPServer":"10.0.0.1"}',
      'POST /redfish/v1/AccountService/Accounts':
        '{"UserName":"monitor","Password":"Correct-Horse1","RoleId":"ReadOnly"}',
    },
    false,
  ],
];
for (const [title, options, desired, needsReset] of managerSettings) {
  test(`${title} are set once`, async () => {
    await using fixture = await openFixture(options);
    const { bmc, node } = fixture;
    const read = () => readBmcSettings(bmc, node.bmc.managerUuid, desired);
    const before = await read();
    assert.deepEqual(before.problems, []);
    assert.equal(before.changes.length, Object.keys(desired).length);
    assert.equal(before.needsReset, needsReset);
    await writeBmcSettings(bmc, node.bmc.managerUuid, desired, before.changes);
    if (needsReset) node.bmc.settings.restart();
    const { firmware: _, ...after } = await read();
    assert.deepEqual(after, { changes: [], problems: [], pending: [], needsReset: false });
  });
}

test('attributes of a manager that wait for its restart are pending, also those of somebody else', async () => {
  await using fixture = await openFixture({ vendor: 'generic' });
  const { bmc, node } = fixture;
  node.bmc.setPendingManager({ LinkSpeed: '100' });
  const desired = { fooreboot: '7' };
  const { changes } = await readBmcSettings(bmc, node.bmc.managerUuid, desired);
  await writeBmcSettings(bmc, node.bmc.managerUuid, desired, changes);
  assert.deepEqual((await readBmcSettings(bmc, node.bmc.managerUuid, desired)).pending, ['LinkSpeed', 'fooreboot']);
});
