import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { qcow2From } from '@metal/boot/test/qcow2-fixture.ts';
import { mbrImage, mebibyte } from '@metal/probe/test/disk-fixture.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { type ImageServer, startImageServer } from '@metal/testenv/network/image-server.ts';
import type { Testenv } from '@metal/testenv/testenv.ts';
import { Command, InvalidArgumentError, Option } from 'commander';
import { addRealMachine, startRealTestenv, timeoutSignal } from '@metal/testenv/real-testenv.ts';
import { type Figure, printFigures } from './figures.ts';

const positive = (text: string): number => {
  const number = Number(text);
  if (Number.isInteger(number) && number > 1 && number <= 2_048) return number;
  throw new InvalidArgumentError('expected a number from 2 to 2048');
};

const command = new Command('make bench-disk')
  .description(
    'Measures how fast the agent writes an image to the disk of a machine in QEMU, and dd in the same machine.',
  )
  .option('--image <MiB>', 'size of the image', positive, 256)
  .addOption(new Option('-o, --output <format>', 'table or JSON').choices(['table', 'json']).default('table'));

interface DiskImagesOptions {
  image: number;
  output: 'table' | 'json';
}

command.action(async () => {
  const { output, image } = command.opts<DiskImagesOptions>();
  process.stdout.write(printFigures(await measure(image), output));
});

const disk = '/dev/nvme0n1';

/** The claims follow each other on one machine: a raw image, a qcow2 image, and the system that runs dd. */
async function measure(sizeMiB: number): Promise<Figure[]> {
  await using images = await startImageServer();
  const blocks = `bs=1M count=${sizeMiB}`;
  await using testenv = await startRealTestenv({
    flags: [`--allowed-image-origins=${images.url}`, '--refused-image-networks=192.0.2.0/24', '--cleanup-disks=None'],
    tenantCommands: [
      'now() { cut -d " " -f 1 /proc/uptime; }',
      `begun=$(now); dd if=/dev/zero of=${disk} ${blocks} conv=fsync 2> /dev/null; echo "dd wrote: $begun $(now)"`,
      'echo 3 > /proc/sys/vm/drop_caches',
      `begun=$(now); dd if=${disk} of=/dev/null ${blocks} 2> /dev/null; echo "dd read: $begun $(now)"`,
    ].join('\n'),
  });
  const node = await addRealMachine(testenv, { disks: [{}, { kind: 'nvme', bytes: (sizeMiB + 32) * mebibyte }] });
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const content = Buffer.concat([mbrImage(), randomBytes(sizeMiB * mebibyte)]).subarray(0, sizeMiB * mebibyte);
  const figures = await written(testenv, { node, images, content, format: 'raw' });
  figures.push(...(await written(testenv, { node, images, content: qcow2From(content), format: 'qcow2' })));
  await testenv.claim({ image: 'registry.test/tenant:1', on: node, name: 'dd' });
  for (const what of ['dd wrote', 'dd read']) {
    const line = await node.serial.waitForLine(new RegExp(`^${what}: .`), timeoutSignal());
    figures.push(rate(what, sizeMiB / secondsIn(line)));
  }
  return figures;
}

interface Writing {
  readonly node: Node;
  readonly images: ImageServer;
  readonly content: Buffer;
  readonly format: 'raw' | 'qcow2';
}

/** By the steps that the agent logs on the serial console. */
async function written(testenv: Testenv, { node, images, content, format }: Writing): Promise<Figure[]> {
  const times: number[] = [];
  using _lines = node.serial.onLine((line) => {
    if (/: writing \d+ bytes|: reading back|first in the boot order|no UEFI boot entry/.test(line))
      times.push(performance.now());
  });
  const checksum = createHash('sha256').update(content).digest('hex');
  const url = images.serve(`os.${format}`, content);
  const diskImage = { url, checksum, format, rootDeviceHints: { deviceName: disk } };
  const begun = performance.now();
  const claim = await testenv.claim({ image: '', diskImage, on: node, name: format });
  const boot = testenv.boots.named(format);
  await boot.until('has the image', ({ status }) => status?.diskImage !== undefined);
  const prepared = performance.now();
  await claim.watched.hasCondition('Ready', 'True');
  await claim.delete();
  await claim.isGone();
  await testenv.server(node).hasReason('Available');
  const [writing, reading, end] = times;
  assert.ok(writing !== undefined && reading !== undefined && end !== undefined);
  const sizeMiB = content.length / mebibyte;
  return [
    rate(`${format}: fetched, checked and measured by the boot service`, (sizeMiB * 1_000) / (prepared - begun)),
    rate(`${format}: sent, written and its digest compared`, (sizeMiB * 1_000) / (reading - writing)),
    rate(`${format}: read back`, (sizeMiB * 1_000) / (end - reading)),
  ];
}

const rate = (name: string, value: number): Figure => ({ name, value, unit: 'MiB/s' });

/** Of a line such as `dd wrote: 17.25 18.5`: two times since the start of the machine. */
function secondsIn(line: string): number {
  const [, begun, ended] = /: ([\d.]+) ([\d.]+)$/.exec(line) ?? assert.fail(line);
  return Number(ended) - Number(begun);
}

await command.parseAsync();
