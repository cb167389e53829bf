import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Stats } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type ErasureOrder, type ErasureReportBody, erasureReport } from '@metal/api/wire/erasure.ts';
import { machineFiles } from '../machine-files.ts';
import type { ProbeClock, ProbeLog, RunProgram } from '../environment.ts';
import { type Device, diskFailed, openDevice } from './device.ts';
import type { ErasureFiles } from './inventory.ts';
import { type ErasureOptions, runErasure } from './run-erasure.ts';

const mebibyte = 1_048_576;
const pattern = Buffer.from('belongs to the former owner; '.repeat(36_158)).subarray(0, mebibyte);

interface DiskOfFile {
  name: string;
  sizeMebibytes: number;
  partitions?: { name: string; startMebibytes: number; sizeMebibytes: number }[];
  attributes?: Record<string, string>;
}

interface Machine extends AsyncDisposable {
  files: ErasureFiles;
  order: (mode: ErasureOrder['mode'], ...names: string[]) => ErasureOrder;
  content: (name: string) => Promise<Buffer>;
  put: (path: string, content: string) => Promise<void>;
}

/** A machine whose disks are files with a pattern. */
async function machineWith(...disks: DiskOfFile[]): Promise<Machine> {
  const root = await mkdtemp(join(tmpdir(), 'metalprobe-test-'));
  const put = async (path: string, content: string | Buffer): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  };
  for (const { name, sizeMebibytes, partitions = [], attributes = {} } of disks) {
    await put(`dev/${name}`, Buffer.concat(Array.from({ length: sizeMebibytes }, () => pattern)));
    const { ino } = await stat(join(root, 'dev', name));
    const sysfsAttributes = {
      dev: `${ino}\n`,
      size: `${sizeMebibytes * 2_048}\n`,
      removable: '0\n',
      ro: '0\n',
      'device/serial': `serial-${name}\n`,
      'device/model': 'Model\n',
      wwid: `naa.${name}\n`,
      ...attributes,
    };
    for (const [attribute, value] of Object.entries(sysfsAttributes))
      await put(`sys/block/${name}/${attribute}`, value);
    for (const { name: part, startMebibytes, sizeMebibytes: size } of partitions) {
      await put(`sys/block/${name}/${part}/start`, `${startMebibytes * 2_048}\n`);
      await put(`sys/block/${name}/${part}/size`, `${size * 2_048}\n`);
      await put(`sys/block/${name}/${part}/dev`, `part:${part}\n`);
    }
  }
  const files: ErasureFiles = {
    sys: machineFiles(join(root, 'sys')),
    udev: machineFiles(join(root, 'run')),
    proc: machineFiles(join(root, 'proc')),
    devRoot: join(root, 'dev'),
    numberOf: (stats: Stats) => String(stats.ino),
    open: openDevice,
  };
  return {
    files,
    order: (mode, ...names) => ({
      attempt: 3,
      mode,
      disks: names.map((name) => ({
        serial: `serial-${name}`,
        wwid: `naa.${name}`,
        model: 'Model',
        sizeBytes: (disks.find((disk) => disk.name === name)?.sizeMebibytes ?? 1) * mebibyte,
      })),
    }),
    content: (name) => readFile(join(root, 'dev', name)),
    put,
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

interface Registry extends AsyncDisposable {
  url: string;
  reports: ErasureReportBody[];
  authorizations: (string | undefined)[];
}

/** Status by report and number of reports with its state; 0 closes the connection. */
async function registryThat(
  answer: (report: ErasureReportBody, countOfState: number) => number = () => 200,
): Promise<Registry> {
  const reports: ErasureReportBody[] = [];
  const authorizations: (string | undefined)[] = [];
  const server = createServer(async (request, response) => {
    assert.equal(request.url, '/erasures');
    const report = erasureReport.parse(JSON.parse(await bodyOf(request)));
    reports.push(report);
    authorizations.push(request.headers.authorization);
    const status = answer(report, reports.filter(({ state }) => state === report.state).length);
    if (status === 0) response.destroy();
    else response.writeHead(status).end(status >= 400 ? 'because' : '');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, reports, authorizations, [Symbol.asyncDispose]: close };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Each sleep ends at the next iteration of the event loop. */
function steppingClock(): ProbeClock & { pauses: number[] } {
  let now = Date.UTC(2026, 0, 1);
  const pauses: number[] = [];
  return {
    pauses,
    now: () => now,
    sleep: async (delayMs, signal) => {
      await setImmediate();
      signal?.throwIfAborted();
      now += delayMs;
      pauses.push(delayMs);
    },
  };
}

const noPrograms: RunProgram = async (program) => {
  throw new Error(`${program} must not be started`);
};

function optionsFor(machine: Machine, registry: Registry, more: Partial<ErasureOptions>) {
  const lines: string[] = [];
  const logLine = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: ProbeLog = { info: logLine, warn: logLine };
  const options: ErasureOptions = {
    order: machine.order('Clear'),
    registryUrl: `${registry.url}/`,
    token: 'the-token',
    systemUUID: 'AABBCCDD-0000-0000-0000-000000000001',
    clock: steppingClock(),
    signal: new AbortController().signal,
    log,
    run: noPrograms,
    files: machine.files,
    random: () => 1,
    ...more,
  };
  return { options, lines };
}

const isPattern = (content: Buffer): boolean =>
  Array.from({ length: content.length / mebibyte }, (_, index) => index * mebibyte).every((start) =>
    content.subarray(start, start + mebibyte).equals(pattern),
  );

test('disks are overwritten to the last byte, and the registry receives the method of each', async () => {
  await using machine = await machineWith({ name: 'sda', sizeMebibytes: 10 }, { name: 'sdb', sizeMebibytes: 7 });
  await using registry = await registryThat();
  const { options, lines } = optionsFor(machine, registry, { order: machine.order('Clear', 'sdb', 'sda') });
  const last = await runErasure(options);
  assert.equal(last.state, 'Succeeded', JSON.stringify(last));
  for (const name of ['sda', 'sdb']) assert.ok((await machine.content(name)).every((byte) => byte === 0));
  assert.deepEqual(
    last.disks.map(({ name, method, result, verified, erasedBytes }) => [name, method, result, verified, erasedBytes]),
    [
      ['sdb', 'Overwrite', 'Erased', true, 7 * mebibyte],
      ['sda', 'Overwrite', 'Erased', true, 10 * mebibyte],
    ],
  );
  assert.ok(last.disks.every(({ samples, startedTime, finishedTime }) => samples > 0 && startedTime && finishedTime));
  assert.deepEqual([last.attempt, last.systemUUID], [3, 'aabbccdd-0000-0000-0000-000000000001']);
  assert.deepEqual(registry.reports.at(-1), last);
  assert.deepEqual(
    registry.reports[0]?.disks.map(({ name, result }) => [name, result]),
    [
      ['sdb', 'Pending'],
      ['sda', 'Pending'],
    ],
  );
  assert.ok(registry.authorizations.every((authorization) => authorization === 'Bearer the-token'));
  assert.doesNotMatch(lines.join('\n'), /the-token/);
  assert.match(lines.join('\n'), /sda: erased by Overwrite and verified/);
});

test('an order in mode None reports success without reading disks', async () => {
  await using machine = await machineWith({ name: 'sda', sizeMebibytes: 2 });
  await using registry = await registryThat();
  const { options } = optionsFor(machine, registry, { order: machine.order('None') });
  const { state, disks } = await runErasure(options);
  assert.deepEqual([state, disks], ['Succeeded', []]);
  assert.deepEqual(
    registry.reports.map((report) => report.state),
    ['Succeeded'],
  );
  assert.ok(isPattern(await machine.content('sda')));
});

test('only the ends of the disk and of its partitions are erased in mode Metadata', async () => {
  const partitions = [{ name: 'sda1', startMebibytes: 20, sizeMebibytes: 20 }];
  await using machine = await machineWith({ name: 'sda', sizeMebibytes: 80, partitions });
  await using registry = await registryThat();
  const { options } = optionsFor(machine, registry, { order: machine.order('Metadata', 'sda') });
  const last = await runErasure(options);
  assert.equal(last.state, 'Succeeded', JSON.stringify(last));
  const content = await machine.content('sda');
  const part = (from: number, to: number): Buffer => content.subarray(from * mebibyte, to * mebibyte);
  for (const [from, to] of [
    [0, 8],
    [20, 28],
    [32, 40],
    [64, 64.0625],
    [72, 80],
  ] as const)
    assert.ok(
      part(from, to).every((byte) => byte === 0),
      `${from} to ${to}`,
    );
  for (const [from, to] of [
    [8, 20],
    [28, 32],
    [40, 64],
    [65, 72],
  ] as const)
    assert.ok(isPattern(part(from, to)));
  assert.equal(last.disks[0]?.erasedBytes, 32 * mebibyte + 65_536);
  assert.equal(last.disks[0]?.samples, 32 * 16 + 1);
});

const sda: DiskOfFile = {
  name: 'sda',
  sizeMebibytes: 1,
  partitions: [{ name: 'sda1', startMebibytes: 0, sizeMebibytes: 1 }],
};
const sdb: DiskOfFile = { name: 'sdb', sizeMebibytes: 1 };
const stops: [title: string, disks: DiskOfFile[], ordered: string[], extra: Record<string, string>, RegExp][] = [
  ['a disk of the order is missing', [sda], ['sda', 'sdb'], {}, /serial serial-sdb, .* of the order is not there/],
  ['a disk of the machine is not in the order', [sda, sdb], ['sda'], {}, /sdb, .* is there and not in the order/],
  [
    'a partition is mounted',
    [sda],
    ['sda'],
    { 'proc/self/mountinfo': '36 35 8:1 / /mnt rw,noatime shared:1 - ext4 /dev/sda1 rw\n' },
    /nothing was erased: sda1 is mounted on \/mnt$/,
  ],
  [
    'a partition is mounted under another name',
    [sda],
    ['sda'],
    { 'proc/self/mountinfo': '36 35 part:sda1 / /mnt rw - ext4 /dev/root rw\n' },
    /sda1 is mounted on \/mnt$/,
  ],
  [
    'a partition is swap',
    [sda],
    ['sda'],
    { 'proc/swaps': 'Filename Type Size Used Priority\n/dev/sda1   partition 1 0 -2\n' },
    /sda1 is swap$/,
  ],
  ['a partition belongs to a RAID', [sda], ['sda'], { 'sys/block/sda/sda1/holders/md0': '' }, /sda is part of md0$/],
  ['the disk belongs to a volume group', [sda], ['sda'], { 'sys/block/sda/holders/dm-0': '' }, /sda is part of dm-0$/],
];
for (const [title, disks, ordered, extra, message] of stops) {
  test(`nothing is erased if ${title}`, async () => {
    await using machine = await machineWith(...disks);
    await using registry = await registryThat();
    for (const [path, content] of Object.entries(extra)) await machine.put(path, content);
    const { options, lines } = optionsFor(machine, registry, { order: machine.order('Clear', ...ordered) });
    const last = await runErasure(options);
    assert.equal(last.state, 'Failed');
    assert.match(last.message, message);
    assert.match(lines.join('\n'), /nothing was erased/);
    assert.deepEqual(registry.reports, [last]);
    assert.ok(last.disks.every(({ result }) => result === 'Pending'));
    for (const { name } of disks) assert.ok(isPattern(await machine.content(name)));
  });
}

test('nothing is erased if the kernel holds a disk for an unlisted use', async () => {
  await using machine = await machineWith(sda, sdb);
  await using registry = await registryThat();
  const open: typeof openDevice = async (device) => {
    if (device.name === 'sdb') throw diskFailed('sdb is in use (EBUSY)');
    return openDevice(device);
  };
  const { options } = optionsFor(machine, registry, {
    order: machine.order('Clear', 'sda', 'sdb'),
    files: { ...machine.files, open },
  });
  const last = await runErasure(options);
  assert.deepEqual([last.state, last.message], ['Failed', 'nothing was erased: sdb is in use (EBUSY)']);
  assert.ok(isPattern(await machine.content('sda')));
});

test('removable and read-only disks are not changed', async () => {
  const removable = { name: 'sdc', sizeMebibytes: 1, attributes: { removable: '1\n' } };
  const readOnly = { name: 'sdd', sizeMebibytes: 1, attributes: { ro: '1\n' } };
  await using machine = await machineWith(sda, removable, readOnly);
  await using registry = await registryThat();
  const last = await runErasure(optionsFor(machine, registry, { order: machine.order('Clear', 'sda') }).options);
  assert.equal(last.state, 'Succeeded', last.message);
  for (const name of ['sdc', 'sdd']) assert.ok(isPattern(await machine.content(name)));
});

test('an I/O error fails only its disk, with name and offset', async () => {
  await using machine = await machineWith({ name: 'sda', sizeMebibytes: 10 }, { name: 'sdb', sizeMebibytes: 10 });
  await using registry = await registryThat();
  const open: typeof openDevice = async (device) =>
    device.name === 'sda' ? failingAt(8 * mebibyte, device) : openDevice(device);
  const { options, lines } = optionsFor(machine, registry, {
    order: machine.order('Clear', 'sda', 'sdb'),
    files: { ...machine.files, open },
  });
  const last = await runErasure(options);
  assert.deepEqual([last.state, last.message], ['Failed', '1 of 2 disks were not erased: sda']);
  const [bad, good] = last.disks;
  assert.deepEqual([bad?.result, bad?.verified, bad?.erasedBytes], ['Failed', false, 8 * mebibyte]);
  assert.match(bad?.message ?? '', /; Overwrite: sda: write at offset 8388608: EIO/);
  assert.match(lines.join('\n'), /sda: not erased: .*Overwrite: sda: write at offset 8388608/);
  assert.deepEqual([good?.result, good?.verified], ['Erased', true]);
  assert.ok((await machine.content('sdb')).every((byte) => byte === 0));
});

/** A disk with write errors from an offset. */
async function failingAt(limit: number, { name, ...device }: Parameters<typeof openDevice>[0]): Promise<Device> {
  const opened = await openDevice({ name, ...device });
  return {
    ...opened,
    write: async (data, offset) => {
      if (offset + data.length <= limit) return opened.write(data, offset);
      throw diskFailed(`${name}: write at offset ${offset}: EIO: i/o error, write`);
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

test('the final report is repeated with growing pauses and the same text until it is acknowledged', async () => {
  await using machine = await machineWith(sda);
  const answers = [503, 0, 429, 200];
  await using registry = await registryThat(({ state }, count) =>
    state === 'Succeeded' ? (answers[count - 1] ?? 500) : 200,
  );
  const clock = steppingClock();
  await runErasure(optionsFor(machine, registry, { order: machine.order('Clear', 'sda'), clock }).options);
  const ends = registry.reports.filter(({ state }) => state === 'Succeeded');
  assert.equal(ends.length, 4);
  assert.equal(new Set(ends.map((report) => JSON.stringify(report))).size, 1);
  assert.deepEqual(clock.pauses.slice(-3), [1_000, 2_000, 4_000]);
});

test('nothing is erased before the registry has acknowledged the order', async () => {
  await using machine = await machineWith(sda);
  const wasPattern: Promise<boolean>[] = [];
  await using registry = await registryThat(({ state }, count) => {
    if (state !== 'Running' || count > 3) return 200;
    wasPattern.push(machine.content('sda').then(isPattern));
    return count < 3 ? 503 : 200;
  });
  await runErasure(optionsFor(machine, registry, { order: machine.order('Clear', 'sda') }).options);
  assert.deepEqual((await Promise.all(wasPattern)).slice(0, 2), [true, true]);
});

for (const status of [401, 403, 404, 410]) {
  test(`an order that the registry rejects with ${status} is not carried out`, async () => {
    await using machine = await machineWith(sda);
    await using registry = await registryThat(() => status);
    const { options, lines } = optionsFor(machine, registry, { order: machine.order('Clear', 'sda') });
    await assert.rejects(runErasure(options), {
      code: 'ErasureRefused',
      status,
      message: new RegExp(`HTTP ${status}: because`),
    });
    assert.equal(registry.reports.length, 1);
    assert.match(lines.join('\n'), new RegExp(`HTTP ${status}: because`));
    assert.ok(isPattern(await machine.content('sda')));
  });
}

test('a rejected report stops the erasure', async () => {
  await using machine = await machineWith(sda, sdb);
  await using registry = await registryThat((_, count) => (count === 1 ? 200 : 410));
  const hugeMebibytes = 4_000_000;
  for (const name of ['sda', 'sdb']) await machine.put(`sys/block/${name}/size`, `${hugeMebibytes * 2_048}\n`);
  let writes = 0;
  let writing = 0;
  const ticksPerWrite: Record<string, number> = { sda: 1, sdb: 50 };
  const open: typeof openDevice = async ({ name }) => ({
    write: async () => {
      writes += 1;
      writing += 1;
      for (let tick = 0; tick < (ticksPerWrite[name] ?? 1); tick += 1) await setImmediate();
      writing -= 1;
    },
    read: async () => {},
    flush: async () => {},
    [Symbol.asyncDispose]: async () => {},
  });
  const order = machine.order('Clear', 'sda', 'sdb');
  const disks = order.disks.map((disk) => ({ ...disk, sizeBytes: hugeMebibytes * mebibyte }));
  const { options } = optionsFor(machine, registry, {
    order: { ...order, disks },
    files: { ...machine.files, open },
  });
  await assert.rejects(runErasure(options), { code: 'ErasureRefused', status: 410 });
  assert.equal(writing, 0, 'no write follows the rejection');
  assert.ok(writes < hugeMebibytes / 4);
  const { state, message, disks: diskErasures } = registry.reports.at(-1) ?? assert.fail('nothing was told');
  assert.deepEqual([state, message], ['Failed', 'stopped because the order was withdrawn']);
  for (const { result, erasedBytes, message: diskMessage } of diskErasures)
    assert.deepEqual([result, erasedBytes > 0, diskMessage], ['Failed', true, 'stopped before completion']);
});

test('after a rejected report no further disk is started, and the final report has the progress of each disk', async () => {
  const [vanished, sanitized, waiting] = ['nvme0n1', 'nvme1n1', 'nvme1n2'];
  const small = [vanished, sanitized, waiting].map((name) => ({ name, sizeMebibytes: 1 }));
  await using machine = await machineWith(...small);
  const formatting = Promise.withResolvers<void>();
  const isErased = ({ disks }: ErasureReportBody) => disks.some(({ result }) => result === 'Erased');
  await using registry = await registryThat((report) => (report.state === 'Running' && isErased(report) ? 403 : 200));
  const run: RunProgram = async (_, [verb, path = ''], signal) => {
    if (verb === 'id-ctrl') return 'oacs : 0x2\nfna : 0\nsanicap : 0\n';
    if (path.endsWith(vanished)) {
      await formatting.promise;
      await writeFile(path, Buffer.alloc(mebibyte), { flag: 'r+' });
      return '';
    }
    formatting.resolve();
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('killed'))));
  };
  const order = machine.order('Purge', vanished, sanitized, waiting);
  const { options, lines } = optionsFor(machine, registry, { order, run });
  await assert.rejects(runErasure(options), { code: 'ErasureRefused', status: 403 });
  const last = registry.reports.at(-1);
  assert.equal(last?.state, 'Failed');
  assert.deepEqual(
    last?.disks.map(({ name, result, continuesByItself = false }) => [name, result, continuesByItself]),
    [
      [vanished, 'Erased', false],
      [sanitized, 'Failed', true],
      [waiting, 'Pending', false],
    ],
  );
  assert.match(lines.join('\n'), /erasure continues inside nvme1n1 and cannot be stopped/);
  assert.ok(isPattern(await machine.content(waiting)));
});

test('a final report that is rejected is sent once', async () => {
  await using machine = await machineWith(sda);
  await using registry = await registryThat((_, count) => (count === 1 ? 200 : 403));
  const { options } = optionsFor(machine, registry, { order: machine.order('Clear', 'sda') });
  await assert.rejects(runErasure(options), { code: 'ErasureRefused' });
});

test('progress is reported at changes and every five seconds, and a lost report does not stop the erasure', async () => {
  await using machine = await machineWith({
    name: 'sda',
    sizeMebibytes: 1,
    attributes: { 'queue/write_zeroes_max_bytes': '1\n' },
  });
  const clock = steppingClock();
  const reportedAt: number[] = [];
  const enough = Promise.withResolvers<void>();
  await using registry = await registryThat(({ state }, count) => {
    if (state !== 'Running') return 200;
    reportedAt.push(clock.now());
    if (count === 6) enough.resolve();
    return count === 3 ? 503 : 200;
  });
  // blkdiscard takes as long as six reports.
  const run: RunProgram = async () => {
    await enough.promise;
    throw new Error('blkdiscard: not today');
  };
  const { options } = optionsFor(machine, registry, { order: machine.order('Clear', 'sda'), clock, run });
  assert.equal((await runErasure(options)).state, 'Succeeded');
  const pauses = reportedAt.slice(1, 6).map((at, index) => at - (reportedAt[index] ?? 0));
  assert.equal(pauses[0], 2_500);
  assert.deepEqual(pauses.slice(1), [5_000, 5_000, 5_000, 5_000]);
});

test('a stop ends the erasure without a final report', async () => {
  await using machine = await machineWith(sda);
  const stop = new AbortController();
  await using registry = await registryThat(() => {
    stop.abort(new Error('stopped by SIGTERM'));
    return 200;
  });
  const { options } = optionsFor(machine, registry, { order: machine.order('Clear', 'sda'), signal: stop.signal });
  await assert.rejects(runErasure(options), { message: 'stopped by SIGTERM' });
  assert.ok(registry.reports.every(({ state }) => state === 'Running'));
});

test('namespaces of one controller are erased in sequence, and other disks in parallel', async () => {
  await using machine = await machineWith(
    ...['nvme0n1', 'nvme0n2', 'nvme1n1'].map((name) => ({ name, sizeMebibytes: 1 })),
  );
  await using registry = await registryThat();
  const atWork = new Set<string>();
  const together = new Set<string>();
  const run: RunProgram = async (_, [verb, path = '']) => {
    if (verb === 'id-ctrl') return 'oacs : 0x2\nfna : 0\nsanicap : 0\n';
    atWork.add(path);
    await setImmediate();
    await setImmediate();
    if (atWork.size > 1)
      together.add(
        [...atWork]
          .map((each) => each.slice(-7))
          .toSorted()
          .join(' '),
      );
    await writeFile(path, Buffer.alloc(mebibyte), { flag: 'r+' });
    atWork.delete(path);
    return '';
  };
  const order = machine.order('Purge', 'nvme0n1', 'nvme0n2', 'nvme1n1');
  const last = await runErasure(optionsFor(machine, registry, { order, run }).options);
  assert.equal(last.state, 'Succeeded', JSON.stringify(last.disks));
  assert.ok(![...together].some((names) => names.includes('nvme0n1') && names.includes('nvme0n2')));
});

test('an empty order succeeds on a machine without disks', async () => {
  await using machine = await machineWith();
  await using registry = await registryThat();
  assert.equal((await runErasure(optionsFor(machine, registry, {}).options)).state, 'Succeeded');
});
