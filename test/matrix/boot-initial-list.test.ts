import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { startBoot } from '@metal/boot/boot.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { namespace, openServiceFixture } from '@metal/testenv/cluster/service-fixture.ts';

const old = 150;
/** Prepared at the same time: `maxConcurrent` in services/boot/src/controllers/serverbootconfiguration/boot-configuration-controller.ts. */
const atOnce = 32;
/**
 * Keys of the initial list that may precede a new one: `initialListBatch` in
 * packages/kube/src/controller/work-queue.ts.
 */
const before = 64;

/** Has every image, and answers only when released. */
async function openImageServer() {
  const requested: string[] = [];
  const waiting: ServerResponse[] = [];
  let isOpen = false;
  let check = () => {};
  const server = createServer(({ url = '' }, response) => {
    const [, image = '', file] = url.split('/');
    if (file === 'vmlinuz') requested.push(image);
    if (isOpen) response.end();
    else waiting.push(response);
    check();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    /** Images in the order of their first request. */
    requested,
    origin: `http://127.0.0.1:${port}`,
    urlOf: (image: string) => `http://127.0.0.1:${port}/${image}/`,
    untilRequested: (count: number) =>
      new Promise<void>((resolve) => {
        check = () => requested.length >= count && resolve();
        check();
      }),
    response: () => {
      isOpen = true;
      for (const response of waiting) response.end();
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('a new boot does not wait until a starting boot service has prepared all existing ones', async () => {
  await using fixture = await openServiceFixture();
  await using images = await openImageServer();
  const boots = (name: string) =>
    fixture.client.create(ServerBootConfiguration, {
      metadata: { name, namespace },
      spec: { serverRef: { name: 'node' }, image: images.urlOf(name) },
    });
  await Promise.all(Array.from({ length: old }, (_, index) => boots(`old-${index}`)));
  const imageSources = { allowedOrigins: [images.origin], isRefusedAddress: () => false };
  await using _service = await startBoot(fixture.bootOptions({ clock: fakeClock(), imageSources }));
  await images.untilRequested(atOnce);
  await boots('new');
  images.response();
  await images.untilRequested(old + 1);
  const place = images.requested.indexOf('new');
  assert.ok(place < before + atOnce, `${place} were prepared before it`);
  await fixture.until(fixture.bootConfigurations, `${namespace}/new`, ({ status }) => status?.state === 'Ready');
});
