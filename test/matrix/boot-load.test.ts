import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { bootOverNetwork, filesOfScript, startBootProcess } from '@metal/testenv/network/network-boot.ts';
import {
  directoryWith,
  namespace,
  openServiceFixture,
  type ServiceFixture,
} from '@metal/testenv/cluster/service-fixture.ts';

const clients = 10_000;
/** At most as many as the kernel's accept queue holds: a client that finds it full retries only after seconds. */
const batchSize = 200;
const kernel = Buffer.alloc(16 * 1_048_576);
const initrd = randomBytes(3_000_000);
const ignition = '{"ignition": {"version": "3.4.0"}}';
const mostMiB = 600;

let fixture: ServiceFixture;
let files: Awaited<ReturnType<typeof directoryWith>>;

before(async () => {
  fixture = await openServiceFixture();
  files = await directoryWith({ vmlinuz: kernel, initrd });
});
after(async () => {
  await files[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

interface ClientGroup {
  readonly title: string;
  readonly addressOf: (index: number) => string;
  /** Addresses from which machines boot meanwhile. */
  readonly machineAddresses: readonly [string, ...string[]];
  /** The request of each client, given the path of a kernel. */
  readonly requestText: (kernelPath: string) => string;
  /** Keeps the connection of a client alive. */
  readonly keepOn: (socket: Socket) => unknown;
}

const spreadAddress = (index: number): string => `127.1.${Math.floor(index / 250)}.${1 + (index % 250)}`;
const separateAddress = '127.9.9.9';
const clientGroups: readonly ClientGroup[] = [
  {
    title: 'send an endless header',
    addressOf: (index) => (index % 2 === 0 ? '127.0.0.1' : spreadAddress(index)),
    machineAddresses: [separateAddress, '127.0.0.1'],
    requestText: () => 'GET /ipxe/ HTTP/1.1\r\nX-Slow: ',
    keepOn: (socket) => socket.write('x'),
  },
  {
    title: 'download slowly',
    addressOf: (index) => spreadAddress(index % 100),
    machineAddresses: [separateAddress],
    requestText: (kernelPath) => `GET ${kernelPath} HTTP/1.1\r\nHost: h\r\n\r\n`,
    keepOn: (socket) => socket.read(),
  },
];

for (const [index, clientGroup] of clientGroups.entries()) {
  test(`machines boot while 10 000 clients ${clientGroup.title}, within ${mostMiB} MiB`, async () => {
    const server = await fixture.booting(`loaded-${index}`, {
      image: `file://${files.path}`,
      ignition,
      format: 'ignition',
    });
    await using boot = await startBootProcess(fixture.kubeconfigPath, [
      `--boot-file-roots=${tmpdir()}`,
      '--bind-boot-tokens=false',
    ]);
    await fixture.until(
      fixture.bootConfigurations,
      `${namespace}/${server.name}`,
      ({ status }) => status?.state === 'Ready',
    );
    const [kernelUrl = ''] = await filesOfScript(boot.url, { uuid: server.uuid });
    const sockets: Socket[] = [];
    try {
      for (let count = 0; count < clients; count += batchSize) {
        sockets.push(...(await connectBatch(clientGroup, kernelUrl, count)));
        if (sockets.length % 2_000 !== 0) continue;
        for (const socket of sockets) if (!socket.destroyed) clientGroup.keepOn(socket);
        for (const address of clientGroup.machineAddresses) {
          const loaded = await bootOverNetwork(boot.url, { uuid: server.uuid, address });
          assert.deepEqual(loaded, { kernel: kernel.length, initrd: initrd.length, ignition: ignition.length });
        }
      }
      const peakMiB = Math.round((await boot.peakBytes()) / 1_048_576);
      assert.ok(peakMiB < mostMiB, `the boot service needed ${peakMiB} MiB`);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
}

/** A batch of clients of 127.0.0.0/8 that send their request. They do not read. */
async function connectBatch(
  { addressOf, requestText }: ClientGroup,
  kernelUrl: string,
  first: number,
): Promise<Socket[]> {
  const { port, pathname } = new URL(kernelUrl);
  const indexes = Array.from({ length: batchSize }, (_, index) => first + index);
  const batch = indexes.map((index) =>
    connect({ port: Number(port), host: '127.0.0.1', localAddress: addressOf(index) })
      .on('error', () => undefined)
      .pause(),
  );
  await Promise.all(batch.map((socket) => once(socket, 'connect')));
  for (const socket of batch) socket.write(requestText(pathname));
  return batch;
}
