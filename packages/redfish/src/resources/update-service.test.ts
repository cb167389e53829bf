import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { json, openStubClient, StubBmc } from '../../test/stub-bmc.ts';
import { inventory, openUpdateFixture, simpleUpdate, updateService } from '../../test/update-fixture.ts';
import { Password } from '../http/password.ts';
import { RedfishError } from '../errors.ts';
import { readUpdateService, startUpdate, type UpdateRequest, updateWasRefused } from './update-service.ts';
import { readUpdateTask } from './update-tasks.ts';

const imageUri = 'https://images.test/bios.img';
const password = new Password('opensesame');
const task = '/redfish/v1/TaskService/Tasks/7';

type Fixture = Awaited<ReturnType<typeof openUpdateFixture>>;

/** Answers SimpleUpdate. */
function answer({ stub }: Fixture, respond: (response: ServerResponse) => void): void {
  stub.intercept = ({ path, method }, response) => {
    const isUpdate = method === 'POST' && path === simpleUpdate;
    if (isUpdate) respond(response);
    return isUpdate;
  };
}

const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

const whole: UpdateRequest = {
  imageUri,
  transferProtocol: 'HTTPS',
  username: 'reader',
  password,
  force: true,
  targets: [`${inventory}/BIOS`],
};
const wholeBody = {
  ImageURI: imageUri,
  TransferProtocol: 'HTTPS',
  Username: 'reader',
  Password: 'opensesame',
  ForceUpdate: true,
  Targets: [`${inventory}/BIOS`],
};
const bodies: [manufacturer: string, request: UpdateRequest, body: object][] = [
  ['Contoso', { imageUri }, { ImageURI: imageUri }],
  ['Contoso', whole, wholeBody],
  ['Contoso', { imageUri, force: false, targets: [] }, { ImageURI: imageUri }],
  ['Dell Inc.', whole, { ...wholeBody, '@Redfish.OperationApplyTime': 'OnReset' }],
  ['Dell Inc.', { imageUri, component: 'BMC' }, { ImageURI: imageUri, '@Redfish.OperationApplyTime': 'Immediate' }],
  ['HPE', whole, wholeBody],
  ['Lenovo', whole, wholeBody],
  ['Supermicro', whole, wholeBody],
];
for (const [manufacturer, request, body] of bodies) {
  test(`SimpleUpdate of ${manufacturer} is sent with ${Object.keys(request).join(', ')}, without If-Match`, async () => {
    const supported = { '@Redfish.OperationApplyTimeSupport': { SupportedValues: ['Immediate', 'OnReset'] } };
    const Actions = { '#UpdateService.SimpleUpdate': { target: simpleUpdate, ...supported } };
    await using fixture = await openUpdateFixture({ '@odata.etag': '"1"', Actions }, manufacturer);
    await startUpdate(fixture.bmc, request);
    const [sent, ...others] = fixture.stub.received.filter(({ path }) => path === simpleUpdate);
    assert.deepEqual(others, []);
    assert.deepEqual(sent?.body, body);
    assert.equal(sent.headers['if-match'], undefined);
  });
}

const accepted: [title: string, status: number, headers: Record<string, string>, body: object, task?: string][] = [
  ['200 and nothing else', 200, {}, {}],
  ['204', 204, {}, {}],
  ['200 and a message', 200, {}, { error: { '@Message.ExtendedInfo': [{ MessageId: 'Base.1.8.Success' }] } }],
  ['200 and the service itself', 200, {}, { '@odata.id': updateService }],
  ['201 with a Location', 201, { location: task }, {}, task],
  ['204 with a Location', 204, { location: task }, {}, task],
  ['202 with a Location', 202, { location: task }, {}, task],
  ['202 with the URL of a host that only the BMC knows', 202, { location: `https://bmc.internal${task}` }, {}, task],
  [
    '202 with the task, and its monitor in Location',
    202,
    { location: '/m/7' },
    { '@odata.id': task, TaskState: 'New' },
    task,
  ],
  ['202 with a TaskMonitor', 202, { location: '/other' }, { TaskMonitor: '/m/7' }, '/m/7'],
  ['202 with a link to the task', 202, {}, { Task: { '@odata.id': task } }, task],
  ['202 with the link of the task alone', 202, {}, { '@odata.id': task }, task],
];
for (const [title, status, headers, body, expected] of accepted) {
  test(`an update answered by ${title} is accepted`, async () => {
    await using fixture = await openUpdateFixture();
    answer(fixture, (response) => json(response, status, body, headers));
    assert.deepEqual(await startUpdate(fixture.bmc, { imageUri }), { task: expected });
  });
}

const failures: [title: string, respond: (response: ServerResponse) => void, isRefused: boolean][] = [
  ['answered by 400', (response) => json(response, 400, {}), true],
  ['answered by 412', (response) => json(response, 412, {}), true],
  ['answered by 503', (response) => json(response, 503, {}, { 'retry-after': '1' }), true],
  ['answered by 500', (response) => json(response, 500, {}), false],
  ['whose response is lost', (response) => response.destroy(), false],
];
for (const [title, respond, isRefused] of failures) {
  test(`an update ${title} is sent once, and ${isRefused ? 'was refused' : 'may have started'}`, async () => {
    await using fixture = await openUpdateFixture();
    answer(fixture, respond);
    const error = await errorOf(startUpdate(fixture.bmc, { imageUri }));
    assert.ok(error instanceof RedfishError);
    assert.equal(updateWasRefused(error), isRefused);
    assert.equal(fixture.stub.count(`POST ${simpleUpdate}`), 1);
  });
}

test('an update that no connection could be opened for was refused', async () => {
  await using fixture = await openUpdateFixture();
  await readUpdateService(fixture.bmc);
  fixture.stub.intercept = ({ path }, response) => {
    if (path !== updateService) return false;
    json(response, 200, { Actions: { '#UpdateService.SimpleUpdate': { target: simpleUpdate } } });
    // The next connection is refused: a POST opens one.
    response.once('finish', () => void fixture.stub[Symbol.asyncDispose]());
    return true;
  };
  const error = await errorOf(startUpdate(fixture.bmc, { imageUri }));
  assert.ok(error instanceof RedfishError && error.code === 'Unreachable', String(error));
  assert.ok(updateWasRefused(error));
});

test('an update that the caller gives up may have started', () => {
  assert.ok(!updateWasRefused(new Error('shutting down')));
});

test('an error does not repeat the password that the BMC repeats', async () => {
  await using fixture = await openUpdateFixture();
  const message = `cannot fetch https://reader:opensesame@images.test/ with opensesame`;
  answer(fixture, (response) => json(response, 400, { error: { message } }));
  const error = await errorOf(startUpdate(fixture.bmc, whole));
  assert.ok(error instanceof RedfishError);
  assert.equal(error.status, 400);
  assert.match(error.message, /cannot fetch https:\/\/\*\*\*@images\.test\/ with \*\*\*/);
});

test('the messages of a later task do not repeat the password either', async () => {
  await using fixture = await openUpdateFixture();
  fixture.stub.set(task, { TaskState: 'Exception', Messages: [{ Message: 'no file with opensesame' }] });
  await startUpdate(fixture.bmc, whole);
  assert.deepEqual((await readUpdateTask(fixture.bmc, task)).messages, ['no file with ***']);
});

test('a BMC without an UpdateService has none, and nothing is sent to it', async () => {
  await using stub = await StubBmc.start();
  await using bmc = openStubClient(stub);
  assert.equal(await readUpdateService(bmc), undefined);
  await assert.rejects(startUpdate(bmc, { imageUri }), { code: 'NotSupported', message: /no UpdateService/ });
  assert.ok(stub.received.every(({ method }) => method === 'GET'));
});

test('a service that was just read is not read again', async () => {
  await using fixture = await openUpdateFixture();
  const service = await readUpdateService(fixture.bmc);
  await startUpdate(fixture.bmc, { imageUri }, { service });
  assert.equal(fixture.stub.count(`GET ${updateService}`), 1);
  assert.equal(fixture.stub.count(`POST ${simpleUpdate}`), 1);
});

test('a BMC that fetches no images is asked to fetch none', async () => {
  await using fixture = await openUpdateFixture({ Actions: {}, HttpPushUri: '/push' });
  assert.partialDeepStrictEqual(await readUpdateService(fixture.bmc), { canPull: false, canPush: true });
  await assert.rejects(startUpdate(fixture.bmc, { imageUri }), { code: 'NotSupported', message: /Push/ });
});

const services: [title: string, service: object, manufacturer: string, expected: object | undefined][] = [
  ['that is disabled', { ServiceEnabled: false }, 'Contoso', undefined],
  [
    'with everything',
    {
      MultipartHttpPushUri: '/push',
      MaxImageSizeBytes: 1_000,
      Actions: { '#UpdateService.SimpleUpdate': { 'TransferProtocol@Redfish.AllowableValues': ['HTTP', 'NFS'] } },
    },
    'Contoso',
    { canPull: true, canPush: true, transferProtocols: ['HTTP', 'NFS'], maxImageBytes: 1_000 },
  ],
  [
    'with protocols in ActionInfo',
    { Actions: { '#UpdateService.SimpleUpdate': { '@Redfish.ActionInfo': '/redfish/v1/Info' } } },
    'Contoso',
    { canPull: true, canPush: false, transferProtocols: ['SCP'], maxImageBytes: undefined },
  ],
  ["with HPE's own push protocol", { HttpPushUri: '/cgi-bin/uploadFile' }, 'HPE', { canPush: false }],
];
for (const [title, service, manufacturer, expected] of services) {
  test(`an UpdateService ${title}`, async () => {
    await using fixture = await openUpdateFixture(service, manufacturer);
    const Parameters = [{ Name: 'TransferProtocol', AllowableValues: ['SCP'] }];
    fixture.stub.set('/redfish/v1/Info', { Parameters });
    const found = await readUpdateService(fixture.bmc);
    if (expected === undefined) assert.equal(found, undefined);
    else assert.partialDeepStrictEqual(found, expected);
  });
}
