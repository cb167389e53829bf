import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { mintFirmwareToken } from '@metal/api/wire/firmware-token.ts';
import { application, listenOn } from '@metal/http/listen.ts';
import { createClock } from '@metal/kube/runtime/clock.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { pino } from 'pino';
import { ArtefactStore } from '../images/artefact-store.ts';
import { FirmwareImages, type FirmwareImagesOptions } from '../images/firmware-images.ts';
import { limitedSender } from './file-routes.ts';
import { firmwareRoutes, serveFirmware } from './firmware-routes.ts';
import { limitAndHandleErrors } from './responses.ts';

const image = Buffer.from('0123456789'.repeat(10_000));
const sha256 = createHash('sha256').update(image).digest('hex');
const key = new Uint8Array(32).fill(7);
const clock = createClock();
const in5Minutes = () => clock.now() + minutes(5);

/** A server that has the image for those who know the password. */
async function openSource(stack: AsyncDisposableStack) {
  const source = { requests: [] as string[], content: image, url: '' };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    source.requests.push(request.url ?? '');
    const isAllowed = request.headers.authorization === `Basic ${btoa('fetcher:secret-1')}`;
    response.statusCode = isAllowed ? 200 : 401;
    response.end(isAllowed ? source.content : undefined);
  });
  stack.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // A server that listens on TCP has an address with a port.
  source.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/U46.bin`;
  return source;
}

/** The boot service and the source of the image of BIOSVersion bios-1. */
async function openFirmware() {
  const stack = new AsyncDisposableStack();
  const source = await openSource(stack);
  const directory = await mkdtemp(join(tmpdir(), 'metal-firmware-test-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'info' },
    { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[0]) },
  );
  const objects: Record<string, object> = {
    'bios-1': { spec: { image: { URI: source.url, secretRef: { name: 'mirror' } } } },
    mirror: { data: { username: btoa('fetcher'), password: btoa('secret-1') } },
  };
  const find = async (_kind: unknown, { name }: { name: string }) => objects[name];
  const client = { find } as unknown as FirmwareImagesOptions['client']; // one name for each object
  const start = async () => {
    const running = new AsyncDisposableStack();
    const store = running.use(new ArtefactStore({ directory, sizeBytes: 1_000_000, clock, log }));
    const bootTokenKey = () => Promise.resolve(key);
    const firmware = new FirmwareImages({ client, bootTokenKey, managerNamespace: 'system', store, fetch, clock });
    const http = application({ bodyLimit: 1, requestTimeout: 10_000, routerOptions: { maxParamLength: 300 } });
    limitAndHandleErrors(http, { clock, log, rateLimit: undefined, freeRoutes: new Set(firmwareRoutes) });
    serveFirmware(
      http,
      { firmware, log },
      limitedSender(() => true),
    );
    const listen = { host: '127.0.0.1', port: 0, option: 'boot-port' };
    const { url } = running.use(await listenOn(http, { listen, clock, shutdownGraceMs: 100 }));
    return { url, [Symbol.asyncDispose]: () => running.disposeAsync() };
  };
  return { source, lines, objects, start, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const pathOf = (fields: { name?: string; sha256?: string; expiresAt?: number } = {}): string => {
  const { name = 'bios-1', expiresAt = in5Minutes() } = fields;
  const hash = fields.sha256 ?? sha256;
  const token = mintFirmwareToken(key, { kind: 'BIOSVersion', name, size: image.length, sha256: hash, expiresAt });
  return `/firmware/bios/${name}/${token}/U46.bin`;
};

const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());

test('BMCs get an image in whole and in parts, and it is fetched once, with credentials that they do not get', async () => {
  await using firmware = await openFirmware();
  await using boot = await firmware.start();
  const url = boot.url + pathOf();
  const responses = await Promise.all(Array.from({ length: 20 }, () => fetch(url)));
  for (const response of responses) assert.ok(image.equals(await bytesOf(response)));
  const head = await fetch(url, { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(image.length)]);
  const part = await fetch(url, { headers: { range: 'bytes=99990-' } });
  assert.deepEqual([part.status, (await bytesOf(part)).toString()], [206, '0123456789']);
  assert.deepEqual(firmware.source.requests, ['/U46.bin']);
  assert.doesNotMatch(JSON.stringify([...head.headers]), /secret-1|fetcher/);
});

test('each delivered image is a line of the log, without token and credentials', async () => {
  await using firmware = await openFirmware();
  {
    await using boot = await firmware.start();
    await bytesOf(await fetch(boot.url + pathOf()));
  }
  const line = firmware.lines.find(({ msg }) => msg === 'a BMC fetched a firmware image');
  assert.deepEqual(
    [line?.object, line?.client, line?.digest, line?.image],
    ['BIOSVersion/bios-1', '127.0.0.1', `sha256:${sha256}`, firmware.source.url],
  );
  const token = pathOf().split('/')[4]?.split('.').at(-1) ?? '';
  assert.doesNotMatch(JSON.stringify(firmware.lines), new RegExp(`secret-1|${token}`));
});

test('an expired or forged token, or one of a deleted object, gets nothing', async () => {
  await using firmware = await openFirmware();
  await using boot = await firmware.start();
  const statusOf = async (path: string) => (await fetch(boot.url + path)).status;
  assert.equal(await statusOf(pathOf({ expiresAt: clock.now() - 1 })), 403);
  assert.equal(await statusOf(pathOf().replace('/firmware/bios/', '/firmware/bmc/')), 403);
  assert.equal(await statusOf(pathOf().replace(/.\/U46/, (end) => `${end.startsWith('A') ? 'B' : 'A'}/U46`)), 403);
  assert.equal(await statusOf(pathOf({ name: 'deleted' })), 403);
  assert.deepEqual(firmware.source.requests, []);
});

test('an image that is not the one that was checked is not served', async () => {
  await using firmware = await openFirmware();
  await using boot = await firmware.start();
  firmware.source.content = Buffer.from(image).fill('x');
  const response = await fetch(boot.url + pathOf());
  assert.equal(response.status, 503);
  assert.match(await response.text(), /nothing of it is served/);
});

test('a boot service that restarted serves stored images by the same URL, without fetching them again', async () => {
  await using firmware = await openFirmware();
  const path = pathOf();
  {
    await using boot = await firmware.start();
    await bytesOf(await fetch(boot.url + path));
  }
  await using boot = await firmware.start();
  assert.ok(image.equals(await bytesOf(await fetch(boot.url + path))));
  assert.equal(firmware.source.requests.length, 1);
});

test('a source that refuses the credentials is reported, without them', async () => {
  await using firmware = await openFirmware();
  firmware.objects.mirror = { data: { username: btoa('fetcher'), password: btoa('secret-2') } };
  await using boot = await firmware.start();
  const response = await fetch(boot.url + pathOf());
  const text = await response.text();
  assert.deepEqual([response.status, /responds with 401/.test(text)], [503, true]);
  assert.doesNotMatch(text + JSON.stringify(firmware.lines), /secret-2/);
});
