import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { test } from 'node:test';
import { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import type { Testenv } from '@metal/testenv/testenv.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { QemuMachine } from '@metal/simulator/qemu/qemu-machine.ts';
import { addRealMachine, startRealTestenv, timeoutSignal } from '@metal/testenv/real-testenv.ts';
import { banners } from '@metal/project/demo/tenant-system.ts';

const pattern = Buffer.from('data of the previous tenant\n');

function diskFilesOf({ machine }: Node): readonly string[] {
  assert.ok(machine instanceof QemuMachine);
  return machine.diskFiles;
}

/** All over the disk, also where no filesystem would put it first. */
async function writePattern(path: string): Promise<void> {
  await using file = await open(path, 'r+');
  const { size } = await file.stat();
  const block = Buffer.alloc(1_048_576, pattern);
  for (let at = 0; at < size; at += 4 * block.length) await file.write(block, 0, block.length, at);
}

async function bytesThatAreNotZero(path: string): Promise<number> {
  let count = 0;
  // A stream of a file gives buffers unless an encoding is set.
  for await (const part of createReadStream(path) as AsyncIterable<Buffer>)
    for (const byte of part) if (byte !== 0) count += 1;
  return count;
}

/** A server that was claimed, runs its image, has data on its disks, and is released. */
async function returnServer(testenv: Testenv, node: Node): Promise<void> {
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const claim = await testenv.claim({ image: 'registry.test/tenant:1', on: node });
  await node.serial.waitForLine(new RegExp(banners.network), timeoutSignal());
  await testenv.server(node).hasReason('ClaimServed');
  for (const path of diskFilesOf(node)) await writePattern(path);
  await claim.delete();
  await claim.isGone();
}

type DiskErasure = NonNullable<ErasureReport['spec']['disks']>[number];

async function reportsOf(testenv: Testenv): Promise<ErasureReport[]> {
  const { items } = await testenv.client.list(ErasureReport);
  return items.toSorted((one, other) => one.spec.attempt - other.spec.attempt);
}

/** With the samples that were read back. */
function speedOf({ name, method, sizeBytes, startedTime = '', finishedTime = '' }: DiskErasure): string {
  const seconds = (Date.parse(finishedTime) - Date.parse(startedTime)) / 1_000;
  return `${name}: ${method} of ${sizeBytes / 2 ** 20} MiB in ${seconds.toFixed(2)} s, ${(sizeBytes / 2 ** 20 / seconds).toFixed(0)} MiB/s`;
}

test('disks of a released server are erased to the last byte before the next claim, with a record', async (t) => {
  await using testenv = await startRealTestenv({ flags: ['--cleanup-disks=Clear'] });
  const node = await addRealMachine(testenv, { disks: [{}, { kind: 'nvme', bytes: 96 * 2 ** 20 }] });
  await returnServer(testenv, node);
  await testenv.server(node).hasReason('Available');
  assert.equal(node.power, 'Off');
  for (const path of diskFilesOf(node)) assert.equal(await bytesThatAreNotZero(path), 0, path);

  const [report, ...more] = await reportsOf(testenv);
  assert.deepEqual(more, []);
  assert.deepEqual(
    [report?.spec.state, report?.spec.mode, report?.spec.attempt, report?.spec.formerClaim?.name],
    ['Succeeded', 'Clear', 1, 'claim-1'],
  );
  const { disks } = node.machine.hardware;
  const reported = report?.spec.disks?.map(
    ({ serial, sizeBytes, result, verified }) => `${serial} ${sizeBytes} ${result} ${verified}`,
  );
  const wanted = disks.map(({ serialNumber, bytes }) => `${serialNumber} ${bytes} Erased true`);
  assert.deepEqual(reported?.toSorted(), wanted.toSorted());
  for (const disk of report?.spec.disks ?? []) t.diagnostic(speedOf(disk));
});

test('a server with a disk that cannot be erased stays out of the pool and off, and its system never runs again', async () => {
  await using testenv = await startRealTestenv({ flags: ['--cleanup-disks=Clear', '--cleanup-attempts=1'] });
  const node = await addRealMachine(testenv, { disks: [{ badSector: 100_000 }] });
  await returnServer(testenv, node);
  const logLength = node.serial.last().length;
  const server = await testenv.server(node).hasReason('CleanupFailed');
  assert.equal(server.status?.state, 'Error');
  assert.match(server.status.failure?.message ?? '', /attempt 1 of 1 to clean it up/);
  await testenv.machine(node).until('is off', () => node.power === 'Off');
  const [report] = await reportsOf(testenv);
  assert.equal(report?.spec.state, 'Failed');
  assert.equal(report.spec.disks?.[0]?.result, 'Failed');

  const next = await testenv.claim({ image: 'registry.test/tenant:1' });
  await next.hasReason('NoServerMatches');
  const later = node.serial.last().slice(logLength).join('\n');
  assert.doesNotMatch(later, new RegExp(`${banners.network}|${banners.disk}`));
});
