import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeskBmc, DeskClock, talkTo } from '../test/desk-bmc.ts';
import { RedfishError, wasRefused } from './errors.ts';
import { resetSystem, type ResetType } from './power.ts';
import { readSystem } from './systems.ts';

const uri = '/redfish/v1/Systems/1';
const target = '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset';

async function asked(type: ResetType, action: object, more: Record<string, object> = {}): Promise<unknown> {
  await using desk = await DeskBmc.start();
  desk.set(uri, { Actions: { '#ComputerSystem.Reset': { target, ...action } } });
  for (const [path, resource] of Object.entries(more)) desk.set(path, resource);
  await using bmc = talkTo(desk);
  const sent = await resetSystem(bmc, uri, type);
  assert.deepEqual(desk.seen.at(-1)?.body, { ResetType: sent });
  assert.equal(desk.log.at(-1), `POST ${target}`);
  return sent;
}

const offering = (...types: string[]) => ({ 'ResetType@Redfish.AllowableValues': types });

test('a type that is offered is sent', async () => {
  assert.equal(await asked('GracefulShutdown', offering('On', 'GracefulShutdown')), 'GracefulShutdown');
});

test('a type is sent as it is where none are advertised', async () => {
  assert.equal(await asked('ForceOff', {}), 'ForceOff');
});

test('the closest type is taken where the wanted one is missing', async () => {
  assert.equal(await asked('ForceOn', offering('On', 'ForceOff')), 'On');
  assert.equal(await asked('On', offering('ForceOn', 'ForceOff')), 'ForceOn');
  assert.equal(await asked('ForceRestart', offering('On', 'PowerCycle')), 'PowerCycle');
});

test('force is never chosen in place of a graceful way', async () => {
  await assert.rejects(asked('GracefulShutdown', offering('On', 'ForceOff')), {
    code: 'NotSupported',
    retry: 'blocked',
    message: /does not offer reset type GracefulShutdown; it offers On, ForceOff/,
  });
});

test('types are looked up where the action refers to them', async () => {
  const info = '/redfish/v1/Systems/1/ResetActionInfo';
  const more = { [info]: { Parameters: [{ Name: 'ResetType', AllowableValues: ['ForceOn'] }, { Name: 'Delay' }] } };
  assert.equal(await asked('On', { '@Redfish.ActionInfo': info }, more), 'ForceOn');
});

test('a system that advertises no action is reset at the usual place', async () => {
  await using desk = await DeskBmc.start();
  desk.set(uri, {});
  await using bmc = talkTo(desk);
  await resetSystem(bmc, uri, 'On');
  assert.equal(desk.log.at(-1), `POST ${target}`);
});

test('a BMC that needs it is left in peace after a power action, also by those who wait already', async () => {
  await using desk = await DeskBmc.start();
  const clock = new DeskClock();
  await using bmc = talkTo(desk, { clock, limits: { gapAfterPowerMs: 5_000, inFlight: 1 } });
  const looks: Promise<unknown>[] = [];
  desk.intercept = ({ method, path }) => {
    if (method === 'POST' && path === target) looks.push(readSystem(bmc, uri));
    return false;
  };
  await resetSystem(bmc, uri, 'On');
  const traffic = desk.seen.length;
  clock.advance(4_999);
  looks.push(readSystem(bmc, uri));
  assert.equal(desk.seen.length, traffic);
  clock.advance(1);
  await Promise.all(looks);
  assert.equal(desk.seen.length, traffic + 2);
});

test('a reset from a power state that is not the present one is not sent', async () => {
  await using desk = await DeskBmc.start();
  await using bmc = talkTo(desk);
  let sent = 0;
  const onSend = () => {
    sent += 1;
  };
  await assert.rejects(resetSystem(bmc, '/redfish/v1/Systems/1', 'On', { expectedPower: 'On', onSend }), {
    code: 'PowerMismatch',
    message: /was to be changed from power On and reports Off/,
  });
  assert.equal(sent, 0);
  assert.equal(desk.log.filter((line) => line.includes('Reset')).length, 0);
});

for (const [status, refused] of [
  [400, true],
  [409, true],
  [500, false],
  [501, true],
  [502, false],
  [503, true],
  [504, false],
  [undefined, false],
] as const) {
  test(`after ${status ?? 'no answer'} a reset ${refused ? 'has not' : 'may have'} been done`, () =>
    assert.equal(wasRefused(new RedfishError({ code: 'HttpError', message: '', status })), refused));
}
