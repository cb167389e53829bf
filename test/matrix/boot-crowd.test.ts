import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { bootOverNetwork, filesOfScript, startBootProcess } from '@metal/lab/network-boot.ts';
import { directoryWith, namespace, openServiceRoom, type ServiceRoom } from '../stories/service-room.ts';

const clients = 10_000;
/** No more at a time than the kernel queues: whoever finds the queue full tries again after seconds only. */
const batchSize = 200;
const kernel = Buffer.alloc(16 * 1_048_576);
const initrd = randomBytes(3_000_000);
const ignition = '{"ignition": {"version": "3.4.0"}}';
const mostMiB = 600;

let room: ServiceRoom;
let files: Awaited<ReturnType<typeof directoryWith>>;

before(async () => {
  room = await openServiceRoom();
  files = await directoryWith({ vmlinuz: kernel, initrd });
});
after(async () => {
  await files[Symbol.asyncDispose]();
  await room[Symbol.asyncDispose]();
});

interface Crowd {
  readonly title: string;
  readonly addressOf: (index: number) => string;
  /** Where machines boot from meanwhile. */
  readonly machineAddresses: readonly [string, ...string[]];
  /** What each says, knowing where a kernel is. */
  readonly words: (kernelPath: string) => string;
  /** What each does when its turn comes again. */
  readonly keepOn: (socket: Socket) => unknown;
}

const amongMany = (index: number): string => `127.1.${Math.floor(index / 250)}.${1 + (index % 250)}`;
const apart = '127.9.9.9';
const crowds: readonly Crowd[] = [
  {
    title: 'begin a header and never end it',
    addressOf: (index) => (index % 2 === 0 ? '127.0.0.1' : amongMany(index)),
    machineAddresses: [apart, '127.0.0.1'],
    words: () => 'GET /ipxe/ HTTP/1.1\r\nX-Slow: ',
    keepOn: (socket) => socket.write('x'),
  },
  {
    title: 'download slowly',
    addressOf: (index) => amongMany(index % 100),
    machineAddresses: [apart],
    words: (kernelPath) => `GET ${kernelPath} HTTP/1.1\r\nHost: h\r\n\r\n`,
    keepOn: (socket) => socket.read(),
  },
];

for (const [index, crowd] of crowds.entries()) {
  test(`machines boot while 10 000 clients ${crowd.title}, within ${mostMiB} MiB`, async () => {
    const server = await room.booting(`crowd-${index}`, {
      image: `file://${files.path}`,
      ignition,
      format: 'ignition',
    });
    await using boot = await startBootProcess(room.kubeconfigPath, [
      `--boot-file-roots=${tmpdir()}`,
      '--bind-boot-tokens=false',
    ]);
    await room.until(room.bootConfigurations, `${namespace}/${server.name}`, ({ status }) => status?.state === 'Ready');
    const [kernelUrl = ''] = await filesOfScript(boot.url, { uuid: server.uuid });
    const sockets: Socket[] = [];
    try {
      for (let count = 0; count < clients; count += batchSize) {
        sockets.push(...(await nextOf(crowd, kernelUrl, count)));
        if (sockets.length % 2_000 !== 0) continue;
        for (const socket of sockets) if (!socket.destroyed) crowd.keepOn(socket);
        for (const address of crowd.machineAddresses) {
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

/** A batch of clients of 127.0.0.0/8 who say their words. They read nothing by themselves. */
async function nextOf({ addressOf, words }: Crowd, kernelUrl: string, first: number): Promise<Socket[]> {
  const { port, pathname } = new URL(kernelUrl);
  const indexes = Array.from({ length: batchSize }, (_, index) => first + index);
  const batch = indexes.map((index) =>
    connect({ port: Number(port), host: '127.0.0.1', localAddress: addressOf(index) })
      .on('error', () => undefined)
      .pause(),
  );
  await Promise.all(batch.map((socket) => once(socket, 'connect')));
  for (const socket of batch) socket.write(words(pathname));
  return batch;
}
