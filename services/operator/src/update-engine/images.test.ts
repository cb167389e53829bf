import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { inspect } from 'node:util';
import type { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { readFirmwareToken } from '@metal/api/wire/firmware-token.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import type { UpdateServiceInfo } from '@metal/redfish/resources/update-service.ts';
import { ImageChecks } from './image-checks.ts';
import { type ImageContext, imageFor, type ImagePlan } from './images.ts';

const image = Buffer.alloc(200_000, 'firmware');
const sha256 = createHash('sha256').update(image).digest('hex');
const key = new Uint8Array(32).fill(7);
const pullAndPush: UpdateServiceInfo = {
  canPull: true,
  canPush: true,
  transferProtocols: [],
  maxImageBytes: undefined,
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The image server, and what the operator needs to fetch from it. */
async function openImageServer(handler: Handler = (_request, response) => response.end(image)) {
  const stack = new AsyncDisposableStack();
  const requests: { path: string; authorization: string | undefined }[] = [];
  let current = handler;
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? '', authorization: request.headers.authorization });
    current(request, response);
  });
  stack.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  const clock = fakeClock();
  const secrets: Record<string, Record<string, string>> = {};
  const find = async (_kind: unknown, { namespace, name }: { namespace: string; name: string }) => {
    if (namespace === 'forbidden') throw new KubeError({ code: 'Forbidden', message: 'no' });
    const texts = secrets[`${namespace}/${name}`];
    return texts && { data: Object.fromEntries(Object.entries(texts).map(([of, text]) => [of, btoa(text)])) };
  };
  const imageChecks = stack.use(
    new ImageChecks({ clock, isRefusedAddress: () => false, bootUrl: 'http://boot.test:8082', maxBytes: 1_000_000 }),
  );
  const context: ImageContext = {
    client: { find } as unknown as ImageContext['client'], // only Secrets are read
    clock,
    imageChecks,
    bootTokenKey: () => Promise.resolve(key),
    config: { managerNamespace: 'system' },
  };
  const url = `http://127.0.0.1:${port}/bios/U46_2.10.bin`;
  return {
    url,
    requests,
    clock,
    secrets,
    context,
    respondWith: (other: Handler) => void (current = other),
    plan: (fields: Partial<BIOSVersion['spec']['image']> = {}, target: UpdateServiceInfo | undefined = pullAndPush) =>
      imageFor({ object: biosVersion({ URI: url, ...fields }), context }, target),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const biosVersion = (of: BIOSVersion['spec']['image']): BIOSVersion => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'BIOSVersion',
  metadata: { name: 'bios-1' },
  spec: { version: '2.10', image: of },
});

const guardedBy =
  (username: string, password: string): Handler =>
  ({ headers: { authorization } }, response) => {
    response.statusCode = authorization === `Basic ${btoa(`${username}:${password}`)}` ? 200 : 401;
    response.end(response.statusCode === 200 ? image : undefined);
  };

test('an image with the expected checksum is checked, and the BMC gets its URI', async () => {
  await using server = await openImageServer();
  const { request, check } = await server.plan({ checksum: `sha256:${sha256}`, transferProtocol: 'HTTP' });
  assert.deepEqual(check, { kind: 'Checked', size: image.length, sha256 });
  assert.deepEqual(request, { imageUri: server.url, delivery: 'Pull', transferProtocol: 'HTTP' });
});

test('an image with another checksum is refused', async () => {
  await using server = await openImageServer();
  const { request, check } = await server.plan({ checksum: `sha256:${'0'.repeat(64)}` });
  assert.equal(request, undefined);
  assert.equal(
    check.kind === 'Refused' && check.message,
    `the image has SHA-256 ${sha256}; image.checksum expects another one`,
  );
});

const messageOf = ({ check }: ImagePlan): string => {
  assert.equal(check.kind, 'Refused');
  return check.kind === 'Refused' ? check.message : '';
};

test('user name and password are those of the Secret, not swapped, and the request prints without the password', async () => {
  await using server = await openImageServer(guardedBy('fetcher', 'secret-1'));
  server.secrets['system/mirror'] = { username: 'fetcher', password: 'secret-1' };
  const plan = await server.plan({ secretRef: { name: 'mirror' } });
  assert.equal(plan.check.kind, 'Checked');
  assert.deepEqual([plan.request?.username, plan.request?.password?.reveal()], ['fetcher', 'secret-1']);
  assert.doesNotMatch(inspect(plan, { depth: 9 }) + JSON.stringify(plan), /secret-1/);
});

test('wrong or missing credentials are refused, also after the image was fetched with others', async () => {
  await using server = await openImageServer(guardedBy('fetcher', 'secret-1'));
  server.secrets['system/right'] = { username: 'fetcher', password: 'secret-1' };
  server.secrets['system/wrong'] = { username: 'fetcher', password: 'secret-2' };
  server.secrets['system/part'] = { username: 'fetcher' };
  assert.equal((await server.plan({ secretRef: { name: 'right' } })).check.kind, 'Checked');
  const rejections: [secretRef: { name: string; namespace?: string } | undefined, message: RegExp][] = [
    [{ name: 'wrong' }, /responds with 401; check image.URI and the credentials in image.secretRef$/],
    [undefined, /responds with 401/],
    [{ name: 'part' }, /^image.secretRef: Secret system\/part needs the keys username and password$/],
    [{ name: 'absent' }, /^image.secretRef: Secret system\/absent does not exist$/],
    [{ name: 'right', namespace: 'forbidden' }, /the operator may not read Secret forbidden\/right/],
  ];
  for (const [secretRef, message] of rejections) assert.match(messageOf(await server.plan({ secretRef })), message);
});

test('a redirect to another server is refused, and credentials are not sent there', async () => {
  await using elsewhere = await openImageServer();
  await using server = await openImageServer((_request, response) =>
    response.writeHead(302, { location: elsewhere.url }).end(),
  );
  server.secrets['system/mirror'] = { username: 'fetcher', password: 'secret-1' };
  assert.match(messageOf(await server.plan({ secretRef: { name: 'mirror' } })), /it redirects to http:/);
  assert.deepEqual(elsewhere.requests, []);
});

test('an image without end, and one that announces too many bytes, are given up', async () => {
  await using server = await openImageServer((_request, response) => {
    const send = () => {
      while (response.write(image));
    };
    response.on('drain', send);
    send();
  });
  assert.match(messageOf(await server.plan()), /it is longer than 1000000 bytes/);
  server.respondWith((_request, response) => void response.writeHead(200, { 'content-length': '1000001' }).write('a'));
  server.clock.advance(minutes(1));
  assert.match(messageOf(await server.plan()), /it is longer than 1000000 bytes/);
});

test('an image is fetched once for all servers, and later only if it changed', async () => {
  let content = image;
  await using server = await openImageServer(({ headers }, response) => {
    const etag = `"${content.length}"`;
    response.setHeader('etag', etag);
    response.statusCode = headers['if-none-match'] === etag ? 304 : 200;
    response.end(response.statusCode === 200 ? content : undefined);
  });
  const plans = await Promise.all(Array.from({ length: 200 }, () => server.plan()));
  assert.ok(plans.every(({ check }) => check.kind === 'Checked'));
  assert.equal(server.requests.length, 1);
  server.clock.advance(minutes(10));
  assert.equal((await server.plan()).check.kind, 'Checked');
  content = image.subarray(1);
  server.clock.advance(minutes(10));
  const { check } = await server.plan();
  assert.equal(check.kind === 'Checked' && check.size, image.length - 1);
  assert.equal(server.requests.length, 3);
});

test('an image that takes long is still being checked, and the fetch goes on', async () => {
  const started = Promise.withResolvers<ServerResponse>();
  await using server = await openImageServer((_request, response) => started.resolve(response));
  const plan = server.plan();
  const response = await started.promise;
  server.clock.advance(minutes(1));
  assert.equal((await plan).check.kind, 'Checking');
  const second = server.plan();
  response.end(image);
  assert.equal((await second).check.kind, 'Checked');
  assert.equal(server.requests.length, 1);
});

test('what only the BMC can fetch is not checked, and is refused where it has to be', async () => {
  await using server = await openImageServer((request) => request.destroy());
  for (const URI of [server.url, 'ftp://192.0.2.1/a.bin', 'nfs://192.0.2.1/a.bin', '192.0.2.1/a.bin']) {
    const { request, check } = await server.plan({ URI });
    assert.deepEqual([check.kind, request?.imageUri, request?.delivery], ['NotChecked', URI, 'Pull']);
    for (const fields of [{ checksum: `sha256:${sha256}` }, { delivery: 'Proxy' }, { delivery: 'Push' }] as const)
      assert.match(messageOf(await server.plan({ URI, ...fields })), /http|fetched/);
  }
  server.respondWith((_request, response) => response.writeHead(404).end());
  server.clock.advance(minutes(1));
  assert.match(messageOf(await server.plan()), /responds with 404/);
});

test('a URI without a scheme is checked by that of its transfer protocol', async () => {
  await using server = await openImageServer();
  const URI = server.url.replace('http://', '');
  const { request, check } = await server.plan({ URI, transferProtocol: 'HTTP' });
  assert.deepEqual([check.kind, request?.imageUri], ['Checked', URI]);
});

test('a proxied image has a URL of the boot service that expires, and no credentials', async () => {
  await using server = await openImageServer(guardedBy('fetcher', 'secret-1'));
  server.secrets['system/mirror'] = { username: 'fetcher', password: 'secret-1' };
  const { request } = await server.plan({ secretRef: { name: 'mirror' }, delivery: 'Proxy' });
  const { imageUri = '', ...others } = request ?? {};
  assert.deepEqual(others, { delivery: 'Pull', transferProtocol: 'HTTP' });
  const [, token = ''] =
    /^http:\/\/boot.test:8082\/firmware\/bios\/bios-1\/([^/]+)\/U46_2.10.bin$/.exec(imageUri) ?? [];
  const object = { kind: 'BIOSVersion', name: 'bios-1' } as const;
  const grant = readFirmwareToken(key, object, token, minutes(240) - 1);
  assert.deepEqual([grant?.sha256, grant?.size], [sha256, image.length]);
  assert.equal(readFirmwareToken(key, object, token, minutes(240)), undefined);
});

test('a pushed image is a stream of the checked bytes, and fails before its end if they changed', async () => {
  await using server = await openImageServer();
  const { request } = await server.plan({ delivery: 'Push' });
  const opened = await request?.open?.();
  assert.deepEqual([opened?.size, opened?.fileName], [image.length, 'U46_2.10.bin']);
  assert.ok(opened !== undefined && image.equals(await buffer(opened.stream)));
  server.respondWith((_request, response) => response.end(Buffer.alloc(image.length, 'malware!')));
  const changed = await request?.open?.();
  let received = 0;
  await assert.rejects(async () => {
    for await (const chunk of changed?.stream ?? []) received += (chunk as Buffer).length; // of a byte stream
  }, /its SHA-256 is/);
  assert.ok(received < image.length);
});

test('a delivery, protocol or size that the BMC does not support is refused before a maintenance', async () => {
  await using server = await openImageServer();
  const none: UpdateServiceInfo = { canPull: false, canPush: false, transferProtocols: [], maxImageBytes: undefined };
  const target = { ...pullAndPush, transferProtocols: ['HTTPS'] };
  assert.match(messageOf(await server.plan({}, none)), /does not support SimpleUpdate/);
  assert.match(messageOf(await server.plan({ delivery: 'Push' }, none)), /does not support push updates/);
  assert.match(messageOf(await server.plan({ transferProtocol: 'HTTP' }, target)), /supported: HTTPS/);
  assert.match(messageOf(await server.plan({}, { ...pullAndPush, maxImageBytes: 10 })), /the BMC accepts 10$/);
  const pushOnly = await server.plan({}, { ...none, canPush: true });
  assert.equal(pushOnly.request?.delivery, 'Push');
});

test('credentials in the URI are refused', async () => {
  await using server = await openImageServer();
  assert.match(messageOf(await server.plan({ URI: 'http://fetcher:secret-1@127.0.0.1/a' })), /image.secretRef$/);
});
