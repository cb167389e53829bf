import assert from 'node:assert/strict';
import { test } from 'node:test';
import { json } from '../../test/stub-bmc.ts';
import { openUpdateFixture, tasks } from '../../test/update-fixture.ts';
import { Password } from '../http/password.ts';
import { readRunningUpdates, readUpdateTask } from './update-tasks.ts';

const task = `${tasks}/7`;
const monitor = '/redfish/v1/TaskService/TaskMonitors/7';

const states: [kind: string, resource: object][] = [
  ...['New', 'Starting', 'Pending', 'Running', 'Stopping', 'Suspended', 'Interrupted', 'Service', 'Cancelling'].map(
    (TaskState): [string, object] => ['Running', { TaskState }],
  ),
  ['Running', { TaskState: 'SomethingNew' }],
  ['Running', { TaskState: '' }],
  ['Running', {}],
  ['Running', { TaskState: 'Running', TaskStatus: 'Warning' }],
  ['Completed', { TaskState: 'Completed', TaskStatus: 'OK' }],
  ['Completed', { TaskState: 'Completed' }],
  ['Completed', { TaskState: 'Completed', TaskStatus: 'Warning' }],
  ['Failed', { TaskState: 'Completed', TaskStatus: 'Critical' }],
  ['Failed', { TaskState: 'Killed' }],
  ['Failed', { TaskState: 'Exception', TaskStatus: 'OK' }],
  ['Failed', { TaskState: 'Cancelled' }],
  ['Running', { JobState: 'Validating' }],
  ['Failed', { JobState: 'Invalid' }],
];
for (const [kind, resource] of states) {
  test(`a task with ${JSON.stringify(resource)} is ${kind}`, async () => {
    await using fixture = await openUpdateFixture();
    fixture.stub.set(task, resource);
    const progress = await readUpdateTask(fixture.bmc, task);
    assert.equal(progress.kind, kind);
    assert.equal(progress.task, task);
  });
}

test('a task shows its progress, and its last messages without credentials', async () => {
  await using fixture = await openUpdateFixture();
  const texts = ['one', 'two', 'two', 'long '.repeat(100), 'user u password p4ss', 'from ftp://u:p@h/x', 'last'];
  fixture.stub.set(task, {
    Name: 'Update of BIOS',
    TaskState: 'Running',
    TaskStatus: 'Warning',
    PercentComplete: 41.7,
    Messages: [null, 7, {}, { MessageId: 'A.1.0.B' }, ...texts.map((Message) => ({ Message }))],
  });
  const progress = await readUpdateTask(fixture.bmc, `https://bmc.internal${task}`, {
    secrets: [new Password('p4ss')],
  });
  assert.deepEqual(progress, {
    kind: 'Running',
    state: 'Running',
    status: 'Warning',
    percent: 42,
    messages: ['two', `${'long '.repeat(31)}long…`, 'user u password ***', 'from ftp://***@h/x', 'last'],
    awaitsReset: false,
    name: 'Update of BIOS',
    task,
  });
});

for (const [MessageId, awaitsReset] of [
  ['Update.1.2.AwaitToActivate', true],
  ['Base.1.18.ResetRequired', true],
  ['IDRAC.2.9.JCP001', true],
  ['Update.1.2.InstallingOnComponent', false],
] as const) {
  test(`a task whose last message is ${MessageId} ${awaitsReset ? 'awaits a reset' : 'goes on'}`, async () => {
    await using fixture = await openUpdateFixture();
    fixture.stub.set(task, { TaskState: 'Starting', Messages: [{ MessageId: 'Base.1.8.Other' }, { MessageId }] });
    assert.equal((await readUpdateTask(fixture.bmc, task)).awaitsReset, awaitsReset);
    fixture.stub.set(task, { TaskState: 'Completed', Messages: [{ MessageId }] });
    assert.equal((await readUpdateTask(fixture.bmc, task)).awaitsReset, false);
  });
}

const envelope = (MessageId: string, Message: string) => ({
  error: { '@Message.ExtendedInfo': [{ MessageId, Message }] },
});
const monitors: [title: string, status: number, body: object | undefined, kind: string, task: string][] = [
  ['202 without a body', 202, undefined, 'Running', monitor],
  ['202 with the task', 202, { '@odata.id': task, TaskState: 'Running' }, 'Running', task],
  ['204', 204, undefined, 'Completed', monitor],
  ["HPE's success message", 200, envelope('iLO.2.21.Success', 'done'), 'Completed', monitor],
  ['the completed task', 200, { '@odata.id': task, TaskState: 'Completed' }, 'Completed', task],
  ['200 and a message of failure', 200, envelope('iLO.2.21.FirmwareFlashError', 'no'), 'Failed', monitor],
  ['400, the result of the operation', 400, envelope('Base.1.8.GeneralError', 'no'), 'Failed', monitor],
  ['404', 404, {}, 'Gone', monitor],
  ['410', 410, {}, 'Gone', monitor],
];
for (const [title, status, body, kind, expected] of monitors) {
  test(`an update whose monitor answers ${title} is ${kind}`, async () => {
    await using fixture = await openUpdateFixture();
    fixture.stub.intercept = ({ path }, response) => {
      if (path === monitor) json(response, status, body);
      return path === monitor;
    };
    const progress = await readUpdateTask(fixture.bmc, monitor);
    assert.equal(progress.kind, kind);
    assert.equal(progress.task, expected);
    if (kind === 'Failed') assert.match(progress.messages.join(), /no/);
  });
}

for (const status of [500, 503]) {
  test(`a BMC that answers ${status} tells nothing about the update`, async () => {
    await using fixture = await openUpdateFixture();
    fixture.stub.intercept = ({ path }, response) => {
      if (path === task) json(response, status, {});
      return path === task;
    };
    await assert.rejects(readUpdateTask(fixture.bmc, task), { name: 'RedfishError', status });
  });
}

const job = '/redfish/v1/JobService/Jobs/R1';
const transitioned = {
  TaskState: 'Completed',
  TaskStatus: 'OK',
  Messages: [{ MessageId: 'Update.1.0.OperationTransitionedToJob', MessageArgs: [job] }],
};

test('a completed task that became a job has the progress of the job', async () => {
  await using fixture = await openUpdateFixture();
  fixture.stub.set(task, transitioned);
  fixture.stub.set(job, { JobState: 'Exception', JobStatus: 'Critical', Messages: [{ Message: 'wrong image' }] });
  const progress = await readUpdateTask(fixture.bmc, task);
  assert.partialDeepStrictEqual(progress, { kind: 'Failed', state: 'Exception', task: job, messages: ['wrong image'] });
});

test('running updates are the running tasks and jobs, except those of other services', async () => {
  await using fixture = await openUpdateFixture();
  fixture.stub.collection(tasks, {
    1: { TaskState: 'Completed' },
    2: { TaskState: 'Running', Payload: { TargetUri: '/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate' } },
    3: { TaskState: 'Running', Payload: { TargetUri: '/redfish/v1/Systems/1/Bios/Actions/Bios.ResetBios' } },
    4: { TaskState: 'Pending' },
    5: transitioned,
  });
  fixture.stub.set(job, { JobState: 'Running' });
  const running = await readRunningUpdates(fixture.bmc);
  assert.deepEqual(
    running.map((each) => each.task),
    [`${tasks}/2`, `${tasks}/4`, job],
  );
});

test('the place of the tasks is read once, and again when they are not there', async () => {
  await using fixture = await openUpdateFixture();
  const { stub, bmc } = fixture;
  stub.collection(tasks, { 1: { TaskState: 'Running' } });
  await readRunningUpdates(bmc);
  await readRunningUpdates(bmc);
  assert.equal(stub.count('GET /redfish/v1/TaskService'), 1);
  stub.resources.delete(tasks);
  stub.collection('/moved', { 1: { TaskState: 'Running' } });
  stub.set('/redfish/v1/TaskService', { Tasks: { '@odata.id': '/moved' } });
  assert.equal((await readRunningUpdates(bmc)).length, 1);
});

test('a BMC without tasks runs no updates', async () => {
  await using fixture = await openUpdateFixture();
  assert.deepEqual(await readRunningUpdates(fixture.bmc), []);
  fixture.stub.resources.delete('/redfish/v1/TaskService');
  assert.deepEqual(await readRunningUpdates(fixture.bmc), []);
});
