import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, json, openStubClient } from '../../test/stub-bmc.ts';
import { findManager, readManagers, resetManager, resetManagerToDefaults } from './managers.ts';
import type { Unreadable } from './members.ts';

const managers = '/redfish/v1/Managers';
const console = { GraphicalConsole: { MaxConcurrentSessions: 4 } };
const reset = (types?: string[]) => ({
  Actions: {
    '#Manager.Reset': {
      target: `${managers}/1/Actions/Manager.Reset`,
      ...(types === undefined ? {} : { 'ResetType@Redfish.AllowableValues': types }),
    },
  },
});

async function withManagers<T>(
  members: Record<string, object>,
  act: (stub: StubBmc, bmc: ReturnType<typeof openStubClient>) => Promise<T>,
) {
  await using stub = await StubBmc.start();
  stub.collection(managers, members);
  stub.set(`${managers}/1/Actions/Manager.Reset`, {});
  await using bmc = openStubClient(stub);
  return await act(stub, bmc);
}

const idFound = (members: Record<string, object>, uuid?: string) =>
  withManagers(members, async (_stub, bmc) => (await findManager(bmc, uuid))?.uri.split('/').at(-1));

test('the first manager with a graphical console is found without a UUID', async () => {
  assert.equal(await idFound({ '10': console, '9': console, '1': {} }), '9');
  assert.equal(await idFound({ b: { GraphicalConsole: { ConnectTypesSupported: ['KVMIP'] } }, a: {} }), 'b');
});

test('the first manager is found when none has a graphical console', async () => {
  assert.equal(await idFound({ b: {}, a: { GraphicalConsole: { MaxConcurrentSessions: 0 } } }, ''), 'a');
});

/** The manager that is found when `HGX` answers 500. */
const foundWithout = (members: Record<string, object>, uuid: string | undefined, withCallback: boolean) =>
  withManagers({ HGX: {}, ...members }, async (stub, bmc) => {
    stub.intercept = ({ path }, response) => {
      if (path === `${managers}/HGX`) json(response, 500, {});
      return path === `${managers}/HGX`;
    };
    const unreadable: string[] = [];
    const onUnreadable = ({ path }: Unreadable) => unreadable.push(path);
    const found = await findManager(bmc, uuid, withCallback ? { onUnreadable } : {});
    return { id: found?.uri.split('/').at(-1), unreadable };
  });

test('an unreadable manager does not prevent finding the others', async () => {
  const unreadable = [`${managers}/HGX`];
  assert.deepEqual(await foundWithout({ BMC: console }, undefined, true), { id: 'BMC', unreadable });
  assert.deepEqual(await foundWithout({ A: {}, BMC: { UUID: 'u' } }, 'u', true), { id: 'BMC', unreadable });
  assert.equal((await foundWithout({ BMC: { UUID: 'u' } }, 'u', false)).id, 'BMC');
});

test('another manager does not replace an unreadable one', async () => {
  const unreadable = [`${managers}/HGX`];
  assert.deepEqual(await foundWithout({ A: {} }, undefined, true), { id: undefined, unreadable });
  assert.deepEqual(await foundWithout({ A: console }, 'u', true), { id: undefined, unreadable });
  await assert.rejects(foundWithout({ A: console }, 'u', false), { code: 'HttpError', status: 500 });
});

test('a manager is found by its UUID in any letter case', async () => {
  const members = { '1': { UUID: 'aaaa-BBBB' }, '2': { UUID: 'cccc' } };
  assert.equal(await idFound(members, 'AAAA-bbbb'), '1');
  assert.equal(await idFound(members, 'dddd'), undefined);
  assert.equal(await idFound({}), undefined);
});

test('a manager is read with its versions and times', () =>
  withManagers(
    {
      '1': {
        ...console,
        FirmwareVersion: '7.1',
        LastResetTime: '2026-01-02T03:04:05+02:00',
        Status: { State: 'Enabled' },
      },
    },
    async (_stub, bmc) => {
      const [manager] = await readManagers(bmc);
      assert.partialDeepStrictEqual(manager, {
        firmwareVersion: '7.1',
        lastResetTime: '2026-01-02T01:04:05Z',
        state: 'Enabled',
        hasGraphicalConsole: true,
      });
    },
  ));

test('a manager is reset with a type that it offers', () =>
  withManagers({ '1': reset(['GracefulRestart']) }, async (stub, bmc) => {
    await resetManager(bmc, `${managers}/1`, 'GracefulRestart');
    assert.deepEqual(stub.received.at(-1)?.body, { ResetType: 'GracefulRestart' });
    await assert.rejects(resetManager(bmc, `${managers}/1`, 'ForceRestart'), {
      code: 'NotSupported',
      message: /offers GracefulRestart/,
    });
  }));

test('a manager that advertises no types receives an empty body', () =>
  withManagers({ '1': reset() }, async (stub, bmc) => {
    await resetManager(bmc, `${managers}/1`, 'GracefulRestart');
    assert.deepEqual(stub.received.at(-1)?.body, {});
  }));

test('a manager that names no reset action gets the reset at the path of the standard, and decides', () =>
  withManagers({ '1': {} }, async (stub, bmc) => {
    const target = `${managers}/1/Actions/Manager.Reset`;
    await resetManager(bmc, `${managers}/1`, 'GracefulRestart');
    assert.equal(stub.log.at(-1), `POST ${target}`);
    stub.resources.delete(target);
    await assert.rejects(resetManager(bmc, `${managers}/1`, 'GracefulRestart'), { code: 'NotFound', status: 404 });
  }));

const defaults = (types: readonly string[]) => ({
  Actions: {
    '#Manager.ResetToDefaults': {
      target: `${managers}/1/Actions/Manager.ResetToDefaults`,
      'ResetType@Redfish.AllowableValues': types,
    },
  },
});

for (const [offered, sent] of [
  [['PreserveNetwork', 'ResetAll'], 'ResetAll'],
  [['PreserveNetworkAndUsers', 'PreserveNetwork'], 'PreserveNetwork'],
] as const)
  test(`of ${offered.join(' and ')}, a manager is reset to defaults by ${sent}`, () =>
    withManagers({ '1': defaults(offered) }, async (stub, bmc) => {
      const target = `${managers}/1/Actions/Manager.ResetToDefaults`;
      stub.set(target, {});
      const logAtSend: (string | undefined)[] = [];
      const onSend = async () => void logAtSend.push(stub.log.at(-1));
      await resetManagerToDefaults(bmc, `${managers}/1`, { onSend });
      assert.deepEqual(logAtSend, [`GET ${managers}/1`]);
      assert.equal(stub.log.at(-1), `POST ${target}`);
      assert.deepEqual(stub.received.at(-1)?.body, { ResetType: sent });
    }));

for (const [what, members] of [
  ['no reset to defaults', reset()],
  ['only one that keeps the accounts', defaults(['PreserveNetworkAndUsers'])],
] as const)
  test(`a manager that offers ${what} is not reset`, () =>
    withManagers({ '1': members }, async (stub, bmc) => {
      await assert.rejects(resetManagerToDefaults(bmc, `${managers}/1`), { code: 'NotSupported' });
      assert.ok(stub.log.every((line) => !line.startsWith('POST') || line.endsWith('/Sessions')));
    }));
