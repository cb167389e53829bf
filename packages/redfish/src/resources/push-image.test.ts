import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { json, wallClock } from '../../test/stub-bmc.ts';
import { inventory, openUpdateFixture, updateService } from '../../test/update-fixture.ts';
import type { BmcEndpoint } from '../endpoint.ts';
import { Bmc, Password } from '../http/bmc.ts';
import { ImageUnreadable, type ImageToPush, startUpdate, updateWasRefused } from './update-service.ts';

const push = '/push';
const image = 'the bytes of an image';
const openImage = (text = image, size = text.length) => ({
  open: async (): Promise<ImageToPush> => ({ size, stream: Readable.from([Buffer.from(text)]), fileName: 'a "b".img' }),
});

/** The bodies that the BMC got at its push URI. */
const pushed = ({ stub }: Awaited<ReturnType<typeof openUpdateFixture>>) =>
  stub.received.filter(({ path }) => path === push);

/** Parameters and file of a form. */
function partsOf(body: unknown, contentType = ''): { parameters: unknown; file: string | undefined; fileName: string } {
  const boundary = /boundary=(.+)$/.exec(contentType)?.[1] ?? '';
  const [, first = '', second = '', end] = String(body).split(`--${boundary}`);
  assert.equal(end, '--\r\n');
  assert.match(first, /^\r\nContent-Disposition: form-data; name="UpdateParameters"\r\n/);
  const [head = '', file] = second.split('\r\n\r\n');
  const fileName = /name="UpdateFile"; filename="([^"]*)"/.exec(head)?.[1] ?? '';
  return { parameters: JSON.parse(first.split('\r\n\r\n')[1] ?? ''), file: file?.replace(/\r\n$/, ''), fileName };
}

const forms: [manufacturer: string, options: object, parameters: object][] = [
  ['Contoso', {}, { Targets: [] }],
  ['Contoso', { targets: ['/x'], force: true }, { Targets: ['/x'], ForceUpdate: true }],
  ['Dell Inc.', {}, { Targets: [], '@Redfish.OperationApplyTime': 'Immediate' }],
  ['Supermicro', { component: 'BIOS' }, { Targets: [`${inventory}/BIOS`] }],
  ['Supermicro', { component: 'BIOS', targets: ['/x'] }, { Targets: ['/x'] }],
];
for (const [manufacturer, options, parameters] of forms) {
  test(`a form is pushed to ${manufacturer} with ${JSON.stringify(parameters)}`, async () => {
    const uris = { MultipartHttpPushUri: push, HttpPushUri: '/other' };
    await using fixture = await openUpdateFixture(uris, manufacturer);
    fixture.stub.collection(inventory, { BIOS: { Name: 'BIOS' }, Staged_BIOS: { Name: 'BIOS' }, NIC: {} });
    fixture.stub.set(push, {});
    await startUpdate(fixture.bmc, { delivery: 'Push', ...openImage(), ...options });
    const [{ body, headers } = assert.fail(), ...others] = pushed(fixture);
    assert.deepEqual(others, []);
    const parts = partsOf(body, headers['content-type']);
    assert.deepEqual(parts, { parameters, file: image, fileName: 'a__b_.img' });
  });
}

test('without a form the image is the body, and its task is returned', async () => {
  await using fixture = await openUpdateFixture({ HttpPushUri: push });
  fixture.stub.intercept = ({ path }, response) => {
    if (path === push) json(response, 202, {}, { location: '/t/1' });
    return path === push;
  };
  const { task } = await startUpdate(fixture.bmc, { delivery: 'Push', ...openImage() });
  assert.equal(task, '/t/1');
  const [{ body, headers } = assert.fail()] = pushed(fixture);
  assert.equal(body, image);
  assert.equal(headers['content-type'], 'application/octet-stream');
  assert.equal(headers['content-length'], String(image.length));
});

for (const manufacturer of ['Dell Inc.', 'HPE']) {
  test(`nothing is pushed to the HttpPushUri of ${manufacturer}`, async () => {
    await using fixture = await openUpdateFixture({ HttpPushUri: push }, manufacturer);
    await assert.rejects(startUpdate(fixture.bmc, { delivery: 'Push', ...openImage() }), { code: 'NotSupported' });
    assert.deepEqual(pushed(fixture), []);
  });
}

test('the image is opened again when the BMC wants a new login', async () => {
  await using fixture = await openUpdateFixture({ HttpPushUri: push });
  let rejections = 0;
  fixture.stub.set(push, {});
  fixture.stub.intercept = ({ path }, response) => {
    if (path !== push || rejections > 0) return false;
    rejections += 1;
    json(response, 401, {});
    return true;
  };
  await startUpdate(fixture.bmc, { delivery: 'Push', ...openImage() });
  assert.deepEqual(
    pushed(fixture).map(({ body }) => body),
    [image, image],
  );
});

const broken: [title: string, open: () => Promise<ImageToPush>, message: RegExp][] = [
  ['cannot be opened', () => Promise.reject(new Error('no such image')), /no such image/],
  ['is shorter than announced', openImage(image, 1_000).open, /expected an image of 1000 bytes, found 21/],
  ['is longer than announced', openImage(image, 3).open, /found more/],
  [
    'breaks off',
    async () => ({ size: 9, stream: Readable.from(failing()), fileName: 'a' }),
    /the server of the image is gone/,
  ],
];
async function* failing(): AsyncGenerator<Buffer> {
  yield Buffer.from('abc');
  throw new Error('the server of the image is gone');
}
for (const [title, open, message] of broken) {
  test(`an image that ${title} is not installed, and the error is that of the image`, async () => {
    await using fixture = await openUpdateFixture({ HttpPushUri: push });
    const error = await startUpdate(fixture.bmc, { delivery: 'Push', open }).catch((reason: unknown) => reason);
    assert.ok(error instanceof ImageUnreadable, String(error));
    assert.match(error.message, message);
    assert.ok(updateWasRefused(error));
    assert.equal(fixture.bmc.breaker, 'closed');
  });
}

/** A BMC that leaves the image unread, with a client, and an image of 512 MiB that counts what was read of it. */
async function openLargeImage(respond: (response: ServerResponse) => void) {
  const stack = new AsyncDisposableStack();
  const server = createServer(({ method, url }, response) => {
    if (method === 'POST' && url === push) respond(response);
    else if (url === '/redfish/v1/') json(response, 200, { UpdateService: { '@odata.id': updateService } });
    else json(response, url === updateService ? 200 : 404, { HttpPushUri: push });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  const endpoint: BmcEndpoint = { scheme: 'http', host: '127.0.0.1', port };
  const bmc = stack.use(
    new Bmc({ endpoint, credentials: { username: 'u', password: new Password('p') }, clock: wallClock }),
  );
  bmc.learnManufacturer('Contoso');
  const chunk = Buffer.alloc(1024 * 1024);
  const size = 512 * chunk.length;
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const read = { bytes: 0, closed };
  async function* chunks(): AsyncGenerator<Buffer> {
    try {
      for (; read.bytes < size; read.bytes += chunk.length) yield chunk;
    } finally {
      resolve();
    }
  }
  const open = async () => ({ size, stream: Readable.from(chunks()), fileName: 'a' });
  return { bmc, open, read, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
const aFewBuffers = 64 * 1024 * 1024;

test('an image is read as fast as the BMC takes it, and closed when the caller gives up', async () => {
  const abort = new AbortController();
  await using large = await openLargeImage(() => setImmediate(() => abort.abort(new Error('given up'))));
  const push = startUpdate(large.bmc, { delivery: 'Push', open: large.open }, { signal: abort.signal });
  await assert.rejects(push, /given up/);
  await large.read.closed;
  assert.ok(large.read.bytes < aFewBuffers, `${large.read.bytes} bytes were read`);
});

test('an image that the BMC rejects at once is closed, and the error is the rejection', async () => {
  const message = 'the image is too large';
  await using large = await openLargeImage((response) => json(response, 413, { error: { message } }));
  const push = startUpdate(large.bmc, { delivery: 'Push', open: large.open });
  await assert.rejects(push, { name: 'RedfishError', status: 413, message: /too large/ });
  await large.read.closed;
  assert.ok(large.read.bytes < aFewBuffers, `${large.read.bytes} bytes were read`);
});

for (const uri of ['HttpPushUri', 'MultipartHttpPushUri']) {
  test(`an image for the ${uri} is closed when the caller gives up while it is opened`, async () => {
    await using fixture = await openUpdateFixture({ [uri]: push });
    const abort = new AbortController();
    const stream = Readable.from([image]);
    const closed = once(stream, 'close');
    const open = async () => {
      abort.abort(new Error('given up'));
      return { size: image.length, stream, fileName: 'a' };
    };
    const update = startUpdate(fixture.bmc, { delivery: 'Push', open }, { signal: abort.signal });
    await assert.rejects(update, /given up/);
    await closed;
    assert.deepEqual(pushed(fixture), []);
  });
}
