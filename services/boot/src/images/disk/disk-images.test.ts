import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { DiskImage } from '@metal/api/common/disk-image.ts';
import { createClock } from '@metal/kube/runtime/clock.ts';
import { pino } from 'pino';
import { ArtefactStore } from '../artefact-store.ts';
import { DiskImages } from './disk-images.ts';
import { qcow2Of } from '../../../test/qcow2-fixture.ts';

const { signal } = new AbortController();
const hexOf = (bytes: Uint8Array, algorithm = 'sha256'): string => createHash(algorithm).update(bytes).digest('hex');

/** A boot service whose image server has these files, or responds in another way. */
function imagesFrom(files: Record<string, Uint8Array | (() => Response)>) {
  const fetched: string[] = [];
  const fetch: typeof globalThis.fetch = async (input) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    fetched.push(pathname);
    const file = files[pathname];
    if (typeof file === 'function') return file();
    return file === undefined ? new Response('', { status: 404 }) : new Response(Buffer.from(file));
  };
  const log = pino({ level: 'silent' });
  const clock = createClock();
  const store = new ArtefactStore({ sizeBytes: 10_000_000, clock, log });
  const images = new DiskImages({ store, allowedOrigins: ['http://images.test'], fetch, clock });
  return { images, fetched, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

const imageAt = (path: string, checksum: string, format = 'raw'): DiskImage => ({
  url: `http://images.test${path}`,
  checksum,
  format,
});

async function sentBy(images: DiskImages, image: DiskImage): Promise<Buffer> {
  const prepared = { ...(await images.prepare(image, signal)), observedGeneration: 1 };
  const request = { method: 'GET', range: undefined, ifRange: undefined, ifNoneMatch: undefined, signal } as const;
  const { body } = await images.artefactOf(image, prepared).deliver(request);
  return buffer(body ?? Readable.from([]));
}

const disk = Buffer.concat([randomBytes(70_000), Buffer.alloc(50_000)]);
const stored: [string, Buffer, string][] = [
  ['a raw image', disk, 'none'],
  ['a gzip image', gzipSync(disk), 'gzip'],
  ['a zstd image', zstdCompressSync(disk), 'zstd'],
];
for (const [what, file, encoding] of stored) {
  test(`${what} is verified, measured as a disk, and sent as it is`, async () => {
    await using served = imagesFrom({ '/os': file });
    const image = imageAt('/os', hexOf(file, 'sha512'));
    assert.deepEqual(await served.images.prepare(image, signal), {
      url: image.url,
      checksum: `sha512:${hexOf(file, 'sha512')}`,
      encoding,
      sizeBytes: disk.length,
      sha256: hexOf(disk),
    });
    assert.ok((await sentBy(served.images, image)).equals(file));
    assert.deepEqual(served.fetched, ['/os'], 'fetched once');
  });
}

test('a qcow2 image is measured and sent as the disk that it describes', async () => {
  const { file, disk: described } = qcow2Of(['data', 'zero', 'zlib', 'unallocated']);
  await using served = imagesFrom({ '/os.qcow2': file });
  const image = imageAt('/os.qcow2', hexOf(file, 'md5'), 'qcow2');
  const { sha256, sizeBytes, encoding } = await served.images.prepare(image, signal);
  assert.deepEqual([sha256, sizeBytes, encoding], [hexOf(described), described.length, 'zstd']);
  assert.ok(zstdDecompressSync(await sentBy(served.images, image)).equals(described));
});

test('the checksum may be in a file of an allowed origin', async () => {
  await using served = imagesFrom({ '/os': disk, '/sums': Buffer.from(`${hexOf(disk)}  os\n`) });
  const { checksum } = await served.images.prepare(imageAt('/os', 'http://images.test/sums'), signal);
  assert.equal(checksum, `sha256:${hexOf(disk)}`);
});

const elsewhere = { ...imageAt('/os', hexOf(disk)), url: 'http://elsewhere.test/os' };
const refused: [string, DiskImage, string][] = [
  ['with another checksum', imageAt('/os', 'a'.repeat(64)), 'DiskImageChecksumWrong'],
  ['that is not there', imageAt('/none', hexOf(disk)), 'DiskImageUnavailable'],
  ['of another origin', elsewhere, 'ImageOriginNotAllowed'],
  ['with a checksum file of another origin', imageAt('/os', 'http://elsewhere.test/sums'), 'ImageOriginNotAllowed'],
  ['in another format', imageAt('/os', hexOf(disk), 'qcow2'), 'DiskImageUnreadable'],
];
for (const [what, image, code] of refused) {
  test(`an image ${what} is refused: ${code}`, async () => {
    await using served = imagesFrom({ '/os': disk });
    await assert.rejects(served.images.prepare(image, signal), { code });
  });
}

const cutOff = (): Response =>
  new Response(
    new ReadableStream({
      pull(stream) {
        stream.error(new Error('other side closed'));
      },
    }),
  );
const elsewhereTo = (location: string) => (): Response => new Response(null, { status: 302, headers: { location } });
const faults: [string, Parameters<typeof imagesFrom>[0], DiskImage, fetched: string[]][] = [
  [
    'an image that is elsewhere',
    { '/os': elsewhereTo('http://inside.test/secret'), '/secret': disk },
    imageAt('/os', hexOf(disk)),
    ['/os'],
  ],
  [
    'a checksum file that is elsewhere',
    { '/os': disk, '/sums': elsewhereTo('http://inside.test/secret') },
    imageAt('/os', 'http://images.test/sums'),
    ['/sums'],
  ],
  [
    'a checksum file that is cut off',
    { '/os': disk, '/sums': cutOff },
    imageAt('/os', 'http://images.test/sums'),
    ['/sums'],
  ],
];
for (const [what, files, image, fetched] of faults) {
  test(`${what} is unavailable, and nothing else is read`, async () => {
    await using served = imagesFrom(files);
    await assert.rejects(served.images.prepare(image, signal), { code: 'DiskImageUnavailable' });
    assert.deepEqual(served.fetched, fetched);
  });
}

const others: [string, Buffer, RegExp][] = [
  [
    'xz',
    Buffer.from('fd377a585a000000', 'hex'),
    /compressed with xz, which is not read; compress it with zstd or gzip/,
  ],
  ['qcow2', qcow2Of(['data']).file, /a qcow2 image; set format to qcow2/],
  ['vmdk', Buffer.from('KDMV00000000'), /a vmdk image/],
  ['cut off gzip', gzipSync(disk).subarray(0, 500), /cannot be read to its end/],
];
for (const [what, file, message] of others) {
  test(`a raw image that is ${what} is refused with the reason`, async () => {
    await using served = imagesFrom({ '/os': file });
    await assert.rejects(served.images.prepare(imageAt('/os', hexOf(file)), signal), { message });
  });
}

test('a file with another checksum is not fetched again for each retry', async () => {
  await using served = imagesFrom({ '/os': disk });
  const image = imageAt('/os', 'a'.repeat(64));
  for (let retry = 0; retry < 3; retry += 1)
    await assert.rejects(served.images.prepare(image, signal), { code: 'DiskImageChecksumWrong' });
  assert.deepEqual(served.fetched, ['/os']);
});
