import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { deleteAccount, putAccount, readAccounts, readAccountService } from '@metal/redfish/resources/accounts.ts';
import { readBiosReset, resetBios } from '@metal/redfish/resources/bios.ts';
import { Bmc, type BmcOptions, Password } from '@metal/redfish/http/bmc.ts';
import {
  bootFromDiskOnce,
  clearBootOverride,
  networkBootOnce,
  setBootOrder,
} from '@metal/redfish/resources/boot-override.ts';
import { readInventory } from '@metal/redfish/resources/inventory.ts';
import { setLocatorLed } from '@metal/redfish/resources/led.ts';
import { findManager, resetManager } from '@metal/redfish/resources/managers.ts';
import { generatePassword } from '@metal/redfish/resources/password-rules.ts';
import { resetSystem } from '@metal/redfish/resources/power.ts';
import { readSystem, readSystems } from '@metal/redfish/resources/systems.ts';
import { type Fleet, type Node, startFleet } from '@metal/simulator/fleet.ts';
import { tryLogin } from '@metal/redfish/resources/login.ts';
import type { Missing } from '@metal/simulator/field-shapes.ts';
import { profileNames, profiles, type Vendor } from '@metal/simulator/profiles.ts';

const timeoutSignal = () => AbortSignal.timeout(60_000);

/** Budget: requests for everything in the status of a Server. */
const bringUpBudget = 11;

/** One machine of the vendor, the connection to its BMC, and the URI of its system. */
async function openFixture(vendor: Vendor, { https = false, password }: { https?: boolean; password?: string } = {}) {
  const stack = new AsyncDisposableStack();
  const times = { powerOnMs: 10, powerOffMs: 10, bootMs: 10, bmcRestartMs: 10 };
  const fleet = stack.use(await startFleet({ https, ...times }));
  const node = await fleet.add({ vendor });
  const bmc = stack.use(connectTo(fleet, node, password));
  const uri = `/redfish/v1/Systems/${node.machine.systemId}`;
  return { fleet, node, bmc, uri, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function connectTo(fleet: Fleet, node: Node, password = node.bmc.password): Bmc {
  const { username } = node.bmc;
  return new Bmc(bmcOptionsFor(fleet, node, { username, password: new Password(password) }));
}

function bmcOptionsFor(fleet: Fleet, { bmc }: Node, credentials: BmcOptions['credentials']): BmcOptions {
  const { address: host, port } = bmc;
  const scheme = fleet.caPem === undefined ? 'http' : 'https';
  return { endpoint: { scheme, host, port, tls: { caPem: fleet.caPem } }, credentials, clock: systemClock };
}

const lacks = (vendor: Vendor, what: Missing): boolean => profiles[vendor].shape?.lacks?.includes(what) === true;

for (const vendor of profileNames.filter((name) => !lacks(name, 'systems'))) {
  const profile = profiles[vendor];
  suite(vendor, { concurrency: true }, () => {
    test('a bring-up reads everything, with few requests if the BMC supports $expand', async () => {
      await using fixture = await openFixture(vendor);
      const { bmc, node, uri } = fixture;
      const manager = await findManager(bmc);
      const systems = await readSystems(bmc);
      const inventory = await readInventory(bmc, uri);

      const machines = systems.filter(({ noMachineBecause }) => noMachineBecause === undefined);
      const { disks, nics, memoryGiB, processors } = node.machine.hardware;

      assert.equal(manager?.firmwareVersion, vendor === 'sparse' ? undefined : profile.firmwareVersion);
      assert.equal(new Set(machines.map(({ uuid }) => uuid)).size, node.machines.length);
      if (!lacks(vendor, 'uuid')) assert.equal(machines[0]?.uuid, node.uuid.toLowerCase());
      assert.equal(bmc.manufacturer, vendor === 'sparse' ? undefined : profile.manufacturer);
      assert.deepEqual(inventory.missing, []);
      assert.equal(inventory.processors.length, processors.length);
      assert.equal(inventory.storages.flatMap(({ drives }) => drives).length, disks.length);
      assert.deepEqual(
        inventory.networkInterfaces.map(({ macAddress }) => macAddress),
        nics.map(({ macAddress }) => macAddress),
      );
      assert.equal(inventory.system.memoryGiB, memoryGiB);
      assert.equal(inventory.system.biosVersion, lacks(vendor, 'versions') ? undefined : profile.biosVersion);
      if (profile.expand && profile.shape === undefined)
        assert.ok(node.bmc.requests.length <= bringUpBudget, routes(node));
    });

    test('one session is used and ended, or none if the BMC has no sessions', async () => {
      await using fixture = await openFixture(vendor);
      const { bmc, node, uri } = fixture;
      for (let attempt = 0; attempt < 10; attempt += 1) await readSystem(bmc, uri);
      assert.equal(node.bmc.openSessions, profile.sessionCap === undefined ? 0 : 1);
      await bmc[Symbol.asyncDispose]();
      assert.equal(node.bmc.openSessions, 0);
    });

    test('sessions that the BMC dropped are renewed', async () => {
      await using fixture = await openFixture(vendor);
      await readSystem(fixture.bmc, fixture.uri);
      fixture.node.bmc.dropSessions();
      await Promise.all([1, 2, 3, 4, 5].map(() => readSystem(fixture.bmc, fixture.uri)));
      assert.ok(fixture.node.bmc.openSessions <= 1);
    });

    test('a wrong password is tried once, so that no account is locked', async () => {
      await using fixture = await openFixture(vendor, { password: 'wrong' });
      const { bmc, node, fleet, uri } = fixture;
      for (let attempt = 0; attempt < 10; attempt += 1)
        await assert.rejects(readSystem(bmc, uri), { code: 'AuthenticationFailed' });
      await using other = connectTo(fleet, node);
      await readSystem(other, uri);
    });

    test('the certificate of the fleet is verified against its CA', async () => {
      await using fixture = await openFixture(vendor, { https: true });
      assert.equal((await readSystem(fixture.bmc, fixture.uri)).powerState, 'Off');
    });

    test('a machine is powered on, shut down, powered on and forced off', async () => {
      await using fixture = await openFixture(vendor);
      const { bmc, node, uri } = fixture;
      for (const [type, power] of [
        ['On', 'On'],
        ['GracefulShutdown', 'Off'],
        ['On', 'On'],
        ['ForceOff', 'Off'],
      ] as const) {
        await resetSystem(bmc, uri, type);
        await node.until((machine) => machine.power === power, timeoutSignal());
        assert.equal((await readSystem(bmc, uri)).powerState, power);
      }
      assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);
    });

    test('a machine boots from the network once', async () => {
      await using fixture = await openFixture(vendor);
      const { bmc, node, uri } = fixture;
      await networkBootOnce(bmc, uri, ['Pxe']);
      for (const [start, override] of ['Pxe', undefined].entries()) {
        await resetSystem(bmc, uri, 'On');
        await node.until(({ boots }) => boots[start]?.outcome !== undefined, timeoutSignal());
        assert.equal(node.boots[start]?.override, override);
        await resetSystem(bmc, uri, 'ForceOff');
        await node.until(({ power }) => power === 'Off', timeoutSignal());
      }
    });

    test('an unused boot override is cleared', async () => {
      await using fixture = await openFixture(vendor);
      const { bmc, node, uri } = fixture;
      await bootFromDiskOnce(bmc, uri);
      await clearBootOverride(bmc, uri);
      assert.equal(node.machine.override, undefined);
      const { override } = await readSystem(bmc, uri);
      if (lacks(vendor, 'override')) return;
      assert.ok(override.enabled === 'Disabled' || override.target === 'None');
    });

    test('UEFI HTTP boot is set if the BMC offers it, and otherwise rejected before a request', async () => {
      await using fixture = await openFixture(vendor);
      const { bmc, node, uri } = fixture;
      const boot = networkBootOnce(bmc, uri, ['UefiHttp']);
      if (profile.bootTargets.some((target) => target === 'UefiHttp')) {
        await boot;
        assert.equal(node.machine.override?.target, 'UefiHttp');
      } else {
        await assert.rejects(boot, { code: 'NotSupported' });
      }
    });

    test('the boot order is set once and does not disturb a network boot', async () => {
      await using fixture = await openFixture(vendor);
      const { bmc, node, uri } = fixture;
      await networkBootOnce(bmc, uri, ['Pxe']);
      assert.equal(await setBootOrder(bmc, uri, ['Boot0002']), 'changed');
      assert.equal(node.machine.override?.target, 'Pxe');
      if (lacks(vendor, 'boot order')) return;
      assert.equal(await setBootOrder(bmc, uri, ['Boot0002']), 'unchanged');
      assert.equal((await readSystem(bmc, uri)).bootOrder?.[0], 'Boot0002');
    });

    test('the BIOS is reset at the next start if the BMC offers it, and otherwise the reset is rejected before a request', async () => {
      await using fixture = await openFixture(vendor);
      const { bmc, node, uri } = fixture;
      const { factoryBios } = node.machine;
      const [name = ''] = Object.keys(factoryBios);
      node.machine.biosAttributes = { ...factoryBios, [name]: 'changed' };
      if (profile.biosReset === undefined) {
        await assert.rejects(resetBios(bmc, uri), { code: 'NotSupported' });
        return;
      }
      const task = await resetBios(bmc, uri);
      assert.equal(task !== undefined, profile.biosReset === 'task');
      const isReported = profile.biosReset !== 'nothing';
      assert.equal((await readBiosReset(bmc, uri, task)).kind, isReported ? 'Pending' : 'Accepted');
      assert.equal(node.machine.biosAttributes[name], 'changed', 'not before a start');
      await resetSystem(bmc, uri, 'On');
      await node.until(({ power }) => power === 'On', timeoutSignal());
      assert.equal((await readBiosReset(bmc, uri, task)).kind, isReported ? 'Confirmed' : 'Accepted');
      assert.deepEqual(node.machine.biosAttributes, factoryBios);
    });

    test('the locator LED is switched on and off', async () => {
      await using fixture = await openFixture(vendor);
      const { bmc, uri } = fixture;
      if (lacks(vendor, 'locator light')) {
        await assert.rejects(setLocatorLed(bmc, uri, 'Lit'), { code: 'NotSupported' });
        return;
      }
      for (const light of ['Lit', 'Off'] as const) {
        assert.equal(await setLocatorLed(bmc, uri, light), 'changed');
        assert.equal((await readSystem(bmc, uri)).indicatorLED, light);
        assert.equal(await setLocatorLed(bmc, uri, light), 'unchanged');
      }
    });

    test('an account is created, logs in, gets another role and password, and is deleted', async () => {
      await using fixture = await openFixture(vendor);
      const { bmc, node, fleet } = fixture;
      await readSystems(bmc);
      const { passwords } = await readAccountService(bmc);
      const newPassword = () => generatePassword({ bounds: passwords, specials: bmc.traits.passwordSpecials });
      const log = (password: Password) => tryLogin(bmcOptionsFor(fleet, node, { username: 'second', password }));
      const [first, second] = [newPassword(), newPassword()];
      assert.equal(first.reveal().length, Math.min(profile.maxPasswordLength ?? 32, 32));
      await putAccount(bmc, { userName: 'second', roleId: 'ReadOnly', password: first });
      assert.equal(await log(first), 'accepted');
      await putAccount(bmc, { userName: 'second', roleId: 'Operator', password: second });
      assert.equal(await log(second), 'accepted');
      assert.equal(await log(first), 'rejected');
      assert.equal(node.bmc.access.failedLogins, 1);
      const account = (await readAccounts(bmc, await readAccountService(bmc))).find(
        ({ userName }) => userName === 'second',
      );
      assert.equal(account?.roleId, 'Operator');
      assert.equal(await deleteAccount(bmc, { userName: 'second', id: account?.id }), 'deleted');
      assert.equal(await deleteAccount(bmc, { userName: 'second' }), 'missing');
      assert.equal(await log(second), 'rejected');
    });

    test('the BMC itself is restarted', async () => {
      await using fixture = await openFixture(vendor);
      const { restartedAt } = fixture.node.bmc;
      const manager = await findManager(fixture.bmc);
      const reset = resetManager(fixture.bmc, manager?.uri ?? '', 'GracefulRestart');
      if (lacks(vendor, 'manager reset')) {
        await assert.rejects(reset, { code: 'NotFound' });
        return;
      }
      await reset;
      assert.ok(fixture.node.bmc.restartedAt > restartedAt, 'it restarts');
    });
  });
}

for (const vendor of profileNames.filter((name) => lacks(name, 'systems'))) {
  test(`${vendor}: the manager is read, there are no systems, and a login is verified`, async () => {
    await using fixture = await openFixture(vendor);
    const { bmc, fleet, node } = fixture;
    assert.deepEqual(await readSystems(bmc), []);
    assert.equal((await findManager(bmc))?.firmwareVersion, profiles[vendor].firmwareVersion);
    const { username, password } = node.bmc;
    const logIn = (text: string) => tryLogin(bmcOptionsFor(fleet, node, { username, password: new Password(text) }));
    assert.deepEqual([await logIn(password), await logIn('wrong')], ['accepted', 'rejected']);
    assert.ok(!node.bmc.requests.some(({ path }) => path.includes('/Systems')), routes(node));
  });
}

const routes = ({ bmc }: Node): string => bmc.requests.map(({ method, path }) => `${method} ${path}`).join('\n');
