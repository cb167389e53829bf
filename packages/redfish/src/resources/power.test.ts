import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, FakeClock, json, openStubClient } from '../../test/stub-bmc.ts';
import { RedfishError, wasNotApplied } from '../errors.ts';
import { resetSystem, type ResetType } from './power.ts';
import { readSystem } from './systems.ts';

const uri = '/redfish/v1/Systems/1';
const target = '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset';

async function sentTypeFor(type: ResetType, action: object, more: Record<string, object> = {}): Promise<unknown> {
  await using stub = await StubBmc.start();
  stub.set(uri, { Actions: { '#ComputerSystem.Reset': { target, ...action } } });
  for (const [path, resource] of Object.entries(more)) stub.set(path, resource);
  await using bmc = openStubClient(stub);
  const sent = await resetSystem(bmc, uri, type);
  assert.deepEqual(stub.received.at(-1)?.body, { ResetType: sent });
  assert.equal(stub.log.at(-1), `POST ${target}`);
  return sent;
}

const offering = (...types: string[]) => ({ 'ResetType@Redfish.AllowableValues': types });

test('an offered type is sent', async () => {
  assert.equal(await sentTypeFor('GracefulShutdown', offering('On', 'GracefulShutdown')), 'GracefulShutdown');
});

test('a type is sent unchanged when none are advertised', async () => {
  assert.equal(await sentTypeFor('ForceOff', {}), 'ForceOff');
});

test('a missing type is replaced by the closest one', async () => {
  assert.equal(await sentTypeFor('ForceOn', offering('On', 'ForceOff')), 'On');
  assert.equal(await sentTypeFor('On', offering('ForceOn', 'ForceOff')), 'ForceOn');
  assert.equal(await sentTypeFor('ForceRestart', offering('On', 'PowerCycle')), 'PowerCycle');
});

test('a graceful type is never replaced by a forced one', async () => {
  await assert.rejects(sentTypeFor('GracefulShutdown', offering('On', 'ForceOff')), {
    code: 'NotSupported',
    retry: 'blocked',
    message: /does not offer reset type GracefulShutdown; it offers On, ForceOff/,
  });
});

test('types are read from the ActionInfo resource of the action', async () => {
  const info = '/redfish/v1/Systems/1/ResetActionInfo';
  const more = { [info]: { Parameters: [{ Name: 'ResetType', AllowableValues: ['ForceOn'] }, { Name: 'Delay' }] } };
  assert.equal(await sentTypeFor('On', { '@Redfish.ActionInfo': info }, more), 'ForceOn');
});

test('a reset action without a target is sent to the path of the standard', async () => {
  assert.equal(await sentTypeFor('On', { target: undefined }), 'On');
});

test('a system that names no reset action gets the reset at the path of the standard, and its BMC decides', async () => {
  await using stub = await StubBmc.start();
  stub.set(uri, { Actions: {} });
  await using bmc = openStubClient(stub);
  assert.equal(await resetSystem(bmc, uri, 'On'), 'On');
  assert.equal(stub.log.at(-1), `POST ${target}`);
  stub.resources.delete(target);
  await assert.rejects(resetSystem(bmc, uri, 'On'), { code: 'NotFound', status: 404 });
});

for (const status of [404, 500, 405]) {
  test(`an ActionInfo that answers ${status} counts as not advertised`, async () => {
    await using stub = await StubBmc.start();
    const info = `${uri}/ResetActionInfo`;
    stub.set(uri, { Actions: { '#ComputerSystem.Reset': { target, '@Redfish.ActionInfo': info } } });
    stub.intercept = ({ path }, response) => {
      if (path === info) json(response, status, {});
      return path === info;
    };
    await using bmc = openStubClient(stub);
    assert.equal(await resetSystem(bmc, uri, 'ForceOff'), 'ForceOff');
    assert.equal(stub.log.at(-1), `POST ${target}`);
  });
}

test('queued requests also wait for the pause after a power action', async () => {
  await using stub = await StubBmc.start();
  const clock = new FakeClock();
  await using bmc = openStubClient(stub, { clock, limits: { gapAfterPowerMs: 5_000, inFlight: 1 } });
  const reads: Promise<unknown>[] = [];
  stub.intercept = ({ method, path }) => {
    if (method === 'POST' && path === target) reads.push(readSystem(bmc, uri));
    return false;
  };
  await resetSystem(bmc, uri, 'On');
  const traffic = stub.received.length;
  clock.advance(4_999);
  reads.push(readSystem(bmc, uri));
  assert.equal(stub.received.length, traffic);
  clock.advance(1);
  await Promise.all(reads);
  assert.equal(stub.received.length, traffic + 2);
});

test('a reset that expects another power state is not sent', async () => {
  await using stub = await StubBmc.start();
  await using bmc = openStubClient(stub);
  let sent = 0;
  const onSend = () => {
    sent += 1;
  };
  await assert.rejects(resetSystem(bmc, '/redfish/v1/Systems/1', 'On', { expectedPower: 'On', onSend }), {
    code: 'PowerMismatch',
    message: /was to be changed from power On and reports Off/,
  });
  assert.equal(sent, 0);
  assert.equal(stub.log.filter((line) => line.includes('Reset')).length, 0);
});

for (const [status, isNotApplied] of [
  [400, true],
  [409, true],
  [500, false],
  [501, true],
  [502, false],
  [503, true],
  [504, false],
  [undefined, false],
] as const) {
  test(`a reset ${isNotApplied ? 'was not' : 'may have been'} applied after ${status ?? 'no response'}`, () =>
    assert.equal(wasNotApplied(new RedfishError({ code: 'HttpError', message: '', status })), isNotApplied));
}
