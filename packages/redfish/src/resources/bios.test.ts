import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, json, openStubClient } from '../../test/stub-bmc.ts';
import { readBiosReset, resetBios } from './bios.ts';

const uri = '/redfish/v1/Systems/1';
const bios = `${uri}/Bios`;
const target = `${bios}/Actions/Oem.Reset`;
const task = '/redfish/v1/TaskService/Tasks/7';
const offered = { Actions: { '#Bios.ResetBios': { target } } };

/** A system with this Bios resource; undefined: without one. */
async function openFixture(resource: object | undefined) {
  const stack = new AsyncDisposableStack();
  const stub = stack.use(await StubBmc.start());
  stub.set(uri, { UUID: 'A', ...(resource === undefined ? {} : { Bios: { '@odata.id': bios } }) });
  if (resource !== undefined) stub.set(bios, resource);
  stub.set(target, {});
  const bmc = stack.use(openStubClient(stub));
  return { stub, bmc, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('the reset is sent to the target of the action', async () => {
  await using fixture = await openFixture(offered);
  assert.equal(await resetBios(fixture.bmc, uri), undefined);
  assert.equal(fixture.stub.count(`POST ${target}`), 1);
});

for (const [title, resource] of [
  ['without a BIOS resource', undefined],
  ['whose BIOS has no such action', { Actions: {} }],
] as const) {
  test(`a system ${title} is NotSupported, and nothing is sent`, async () => {
    await using fixture = await openFixture(resource);
    await assert.rejects(resetBios(fixture.bmc, uri), { code: 'NotSupported', message: /#Bios.ResetBios/ });
    assert.ok(fixture.stub.received.every(({ method, path }) => method === 'GET' || path.endsWith('/Sessions')));
  });
}

test('no reset is sent to another machine than the expected one', async () => {
  await using fixture = await openFixture(offered);
  await assert.rejects(resetBios(fixture.bmc, uri, { expectedUuid: 'B' }), { code: 'IdentityMismatch' });
  assert.equal(fixture.stub.count(`POST ${target}`), 0);
});

const rejections: [string, object, number, string | undefined][] = [
  [
    'rejected while one is pending counts as accepted',
    { ...offered, ResetBiosToDefaultsPending: true },
    409,
    undefined,
  ],
  ['rejected for another reason is an error', { ...offered, ResetBiosToDefaultsPending: false }, 409, 'HttpError'],
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
  ['a pending reset', true, undefined, 'Pending'],
  ['a pending reset with a completed task', true, { TaskState: 'Completed' }, 'Pending'],
  ['no pending reset', false, undefined, 'Confirmed'],
  ['no state', undefined, undefined, 'Accepted'],
  ['no state and a completed task', undefined, { TaskState: 'Completed' }, 'Confirmed'],
  ['no state and a running task', undefined, { TaskState: 'Running' }, 'Pending'],
  ['no pending reset and a failed task', false, { TaskState: 'Exception' }, 'Failed'],
  ['no state and a task without a state', undefined, {}, 'Accepted'],
];
for (const [title, isPending, resource, kind] of states) {
  test(`a BIOS reset is ${kind} when the BMC reports ${title}`, async () => {
    await using fixture = await openFixture({ ResetBiosToDefaultsPending: isPending });
    if (resource !== undefined) fixture.stub.set(task, resource);
    assert.equal((await readBiosReset(fixture.bmc, uri, resource && task)).kind, kind);
  });
}

test('a deleted task is ignored, and a failed one is reported with its messages', async () => {
  await using fixture = await openFixture({});
  assert.equal((await readBiosReset(fixture.bmc, uri, task)).kind, 'Accepted');
  fixture.stub.set(task, { TaskState: 'Exception', Messages: [{ Message: 'jumper is set' }, 'rubbish'] });
  const state = await readBiosReset(fixture.bmc, uri, task);
  assert.deepEqual(state, { kind: 'Failed', message: `task ${task} is Exception: jumper is set` });
});
