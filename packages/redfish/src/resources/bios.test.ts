import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, json, openStubClient } from '../../test/stub-bmc.ts';
import { readBiosReset, resetBios } from './bios.ts';

const uri = '/redfish/v1/Systems/1';
const bios = `${uri}/Bios`;
const target = `${bios}/Actions/Oem.Reset`;
const task = '/redfish/v1/TaskService/Tasks/7';
const offered = { Actions: { '#Bios.ResetBios': { target } } };

/** A system whose BIOS is the resource; undefined: it has none. */
async function openFixture(resource: object | undefined) {
  const stack = new AsyncDisposableStack();
  const stub = stack.use(await StubBmc.start());
  stub.set(uri, { UUID: 'A', ...(resource === undefined ? {} : { Bios: { '@odata.id': bios } }) });
  if (resource !== undefined) stub.set(bios, resource);
  stub.set(target, {});
  const bmc = stack.use(openStubClient(stub));
  return { stub, bmc, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('the reset is posted to the target that the BIOS names', async () => {
  await using fixture = await openFixture(offered);
  assert.equal(await resetBios(fixture.bmc, uri), undefined);
  assert.equal(fixture.stub.count(`POST ${target}`), 1);
});

for (const [title, resource] of [
  ['without a BIOS resource', undefined],
  ['whose BIOS has no such action', { Actions: {} }],
] as const) {
  test(`a system ${title} is told to be unable, and nothing is sent`, async () => {
    await using fixture = await openFixture(resource);
    await assert.rejects(resetBios(fixture.bmc, uri), { code: 'NotSupported', message: /#Bios.ResetBios/ });
    assert.ok(fixture.stub.received.every(({ method, path }) => method === 'GET' || path.endsWith('/Sessions')));
  });
}

test('another machine is left alone', async () => {
  await using fixture = await openFixture(offered);
  await assert.rejects(resetBios(fixture.bmc, uri, { expectedUuid: 'B' }), { code: 'IdentityMismatch' });
  assert.equal(fixture.stub.count(`POST ${target}`), 0);
});

const rejections: [string, object, number, string | undefined][] = [
  ['refused because it is under way already counts', { ...offered, ResetBiosToDefaultsPending: true }, 409, undefined],
  ['refused for another reason is an error', { ...offered, ResetBiosToDefaultsPending: false }, 409, 'HttpError'],
  ['answered by 500 is an error', { ...offered, ResetBiosToDefaultsPending: true }, 500, 'HttpError'],
];
for (const [title, resource, status, code] of rejections) {
  test(`a reset that is ${title}`, async () => {
    await using fixture = await openFixture(resource);
    fixture.stub.intercept = ({ path }, response) => {
      if (path === target) json(response, status, { error: { message: 'no' } });
      return path === target;
    };
    if (code === undefined) assert.equal(await resetBios(fixture.bmc, uri), undefined);
    else await assert.rejects(resetBios(fixture.bmc, uri), { code });
  });
}

for (const [title, headers, body] of [
  ['the body', {}, { '@odata.id': task, TaskState: 'New' }],
  ['the header', { location: `https://bmc.internal${task}` }, {}],
  ['the body, before the monitor in the header', { location: '/monitor' }, { '@odata.id': task, TaskState: 'New' }],
] as const) {
  test(`the task is found in ${title}`, async () => {
    await using fixture = await openFixture(offered);
    fixture.stub.intercept = ({ path }, response) => {
      if (path !== target) return false;
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      json(response, 202, body);
      return true;
    };
    assert.equal(await resetBios(fixture.bmc, uri), task);
  });
}

const states: [title: string, isPending: boolean | undefined, task: object | undefined, kind: string][] = [
  ['pending', true, undefined, 'Pending'],
  ['pending, although its task is over', true, { TaskState: 'Completed' }, 'Pending'],
  ['no longer pending', false, undefined, 'Confirmed'],
  ['nothing', undefined, undefined, 'Accepted'],
  ['nothing, and a task that is over', undefined, { TaskState: 'Completed' }, 'Confirmed'],
  ['nothing, and a task that runs', undefined, { TaskState: 'Running' }, 'Pending'],
  ['no longer pending, and a task that failed', false, { TaskState: 'Exception' }, 'Failed'],
  ['nothing, and a task without a state', undefined, {}, 'Accepted'],
];
for (const [title, isPending, resource, kind] of states) {
  test(`a BMC that tells ${title} means ${kind}`, async () => {
    await using fixture = await openFixture({ ResetBiosToDefaultsPending: isPending });
    if (resource !== undefined) fixture.stub.set(task, resource);
    assert.equal((await readBiosReset(fixture.bmc, uri, resource && task)).kind, kind);
  });
}

test('a task that is forgotten tells nothing, and one that failed says why', async () => {
  await using fixture = await openFixture({});
  assert.equal((await readBiosReset(fixture.bmc, uri, task)).kind, 'Accepted');
  fixture.stub.set(task, { TaskState: 'Exception', Messages: [{ Message: 'jumper is set' }, 'rubbish'] });
  const state = await readBiosReset(fixture.bmc, uri, task);
  assert.deepEqual(state, { kind: 'Failed', message: `task ${task} is Exception: jumper is set` });
});
