import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeskBmc, json, talkTo } from '../test/desk-bmc.ts';
import { readBiosReset, resetBios } from './bios.ts';

const uri = '/redfish/v1/Systems/1';
const bios = `${uri}/Bios`;
const target = `${bios}/Actions/Oem.Reset`;
const task = '/redfish/v1/TaskService/Tasks/7';
const offered = { Actions: { '#Bios.ResetBios': { target } } };

/** A system whose BIOS is the resource; undefined: it has none. */
async function meet(resource: object | undefined) {
  const stack = new AsyncDisposableStack();
  const desk = stack.use(await DeskBmc.start());
  desk.set(uri, { UUID: 'A', ...(resource === undefined ? {} : { Bios: { '@odata.id': bios } }) });
  if (resource !== undefined) desk.set(bios, resource);
  desk.set(target, {});
  const bmc = stack.use(talkTo(desk));
  return { desk, bmc, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('the reset is posted to the target that the BIOS names', async () => {
  await using met = await meet(offered);
  assert.equal(await resetBios(met.bmc, uri), undefined);
  assert.equal(met.desk.count(`POST ${target}`), 1);
});

for (const [title, resource] of [
  ['without a BIOS resource', undefined],
  ['whose BIOS has no such action', { Actions: {} }],
] as const) {
  test(`a system ${title} is told to be unable, and nothing is sent`, async () => {
    await using met = await meet(resource);
    await assert.rejects(resetBios(met.bmc, uri), { code: 'NotSupported', message: /#Bios.ResetBios/ });
    assert.ok(met.desk.seen.every(({ method, path }) => method === 'GET' || path.endsWith('/Sessions')));
  });
}

test('another machine is left alone', async () => {
  await using met = await meet(offered);
  await assert.rejects(resetBios(met.bmc, uri, { expectedUuid: 'B' }), { code: 'IdentityMismatch' });
  assert.equal(met.desk.count(`POST ${target}`), 0);
});

const refusals: [string, object, number, string | undefined][] = [
  ['refused because it is under way already counts', { ...offered, ResetBiosToDefaultsPending: true }, 409, undefined],
  ['refused for another reason is an error', { ...offered, ResetBiosToDefaultsPending: false }, 409, 'HttpError'],
  ['answered by 500 is an error', { ...offered, ResetBiosToDefaultsPending: true }, 500, 'HttpError'],
];
for (const [title, resource, status, code] of refusals) {
  test(`a reset that is ${title}`, async () => {
    await using met = await meet(resource);
    met.desk.intercept = ({ path }, response) => {
      if (path === target) json(response, status, { error: { message: 'no' } });
      return path === target;
    };
    if (code === undefined) assert.equal(await resetBios(met.bmc, uri), undefined);
    else await assert.rejects(resetBios(met.bmc, uri), { code });
  });
}

for (const [title, headers, body] of [
  ['the body', {}, { '@odata.id': task, TaskState: 'New' }],
  ['the header', { location: `https://bmc.internal${task}` }, {}],
  ['the body, before the monitor in the header', { location: '/monitor' }, { '@odata.id': task, TaskState: 'New' }],
] as const) {
  test(`the task is found in ${title}`, async () => {
    await using met = await meet(offered);
    met.desk.intercept = ({ path }, response) => {
      if (path !== target) return false;
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      json(response, 202, body);
      return true;
    };
    assert.equal(await resetBios(met.bmc, uri), task);
  });
}

const states: [title: string, told: boolean | undefined, task: object | undefined, kind: string][] = [
  ['pending', true, undefined, 'Pending'],
  ['pending, although its task is over', true, { TaskState: 'Completed' }, 'Pending'],
  ['no longer pending', false, undefined, 'Confirmed'],
  ['nothing', undefined, undefined, 'Accepted'],
  ['nothing, and a task that is over', undefined, { TaskState: 'Completed' }, 'Confirmed'],
  ['nothing, and a task that runs', undefined, { TaskState: 'Running' }, 'Pending'],
  ['no longer pending, and a task that failed', false, { TaskState: 'Exception' }, 'Failed'],
  ['nothing, and a task without a state', undefined, {}, 'Accepted'],
];
for (const [title, told, resource, kind] of states) {
  test(`a BMC that tells ${title} means ${kind}`, async () => {
    await using met = await meet({ ResetBiosToDefaultsPending: told });
    if (resource !== undefined) met.desk.set(task, resource);
    assert.equal((await readBiosReset(met.bmc, uri, resource && task)).kind, kind);
  });
}

test('a task that is forgotten tells nothing, and one that failed says why', async () => {
  await using met = await meet({});
  assert.equal((await readBiosReset(met.bmc, uri, task)).kind, 'Accepted');
  met.desk.set(task, { TaskState: 'Exception', Messages: [{ Message: 'jumper is set' }, 'rubbish'] });
  const state = await readBiosReset(met.bmc, uri, task);
  assert.deepEqual(state, { kind: 'Failed', message: `task ${task} is Exception: jumper is set` });
});
