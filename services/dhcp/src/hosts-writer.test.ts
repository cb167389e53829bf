import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import type { KubeObject, ObjectMeta } from '@metal/kube/kinds/kind.ts';
import type { Store } from '@metal/kube/cache/store.ts';
import { pino } from 'pino';
import { machineStores } from '../test/machine-stores.ts';
import { HostsWriter } from './hosts-writer.ts';

const machineCount = 100;
const mac = (number: number): string => `02:00:00:00:00:${number.toString(16).padStart(2, '0')}`;
const fileOf = (number: number): string => mac(number).replaceAll(':', '');

class HostsFixture implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'metal-hosts-writer-'));
  readonly clock = fakeClock();
  readonly caches = machineStores();
  /** The number of boot file lines that were written, and of calls of `onForget`. */
  readonly counts = { bootfiles: 0, forgets: 0 };
  readonly writer: HostsWriter;
  #version = 0;

  constructor() {
    for (let number = 0; number < machineCount; number += 1) this.setMachine(number, 'Ready');
    this.writer = new HostsWriter({
      caches: this.caches,
      settings: { directory: this.directory, bootUrl: 'http://boot.test' },
      bootTokenKey: () => {
        this.counts.bootfiles += 1;
        return Promise.resolve(new Uint8Array(32));
      },
      onForget: () => (this.counts.forgets += 1),
      clock: this.clock,
      log: pino({ level: 'silent' }),
    });
  }

  setMachine(number: number, state: 'Ready' | 'Pending'): void {
    const name = `server-${number}`;
    const uid = `00000000-0000-4000-8000-${number.toString().padStart(12, '0')}`;
    this.#put(
      this.caches.servers,
      { name, uid },
      {
        spec: { systemUUID: name, bootConfigurationRef: { name: 'boot', namespace: name } },
        status: { networkInterfaces: [{ macAddress: mac(number) }] },
      },
    );
    const status = { state, boot: { method: 'UefiHttp' } };
    const boot = { name: 'boot', namespace: name, uid };
    this.#put(this.caches.bootConfigurations, boot, { spec: { serverRef: { name } }, status });
  }

  removeMachine(number: number): void {
    const server = this.caches.servers.get({ name: `server-${number}` });
    assert.ok(server);
    this.caches.servers.remove(server);
  }

  files(kind: 'hosts' | 'options', unreadable = ''): Record<string, string> {
    const directory = join(this.directory, kind);
    const names = readdirSync(directory).filter((name) => name !== unreadable);
    return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name), 'utf8')]));
  }

  /** Files are written by threads, which no clock moves. */
  async untilRetryScheduled(): Promise<void> {
    for (let tick = 0; this.clock.pending === 0; tick += 1) {
      assert.ok(tick < 1_000_000, 'nothing is to be tried again');
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.writer[Symbol.asyncDispose]();
    rmSync(this.directory, { recursive: true });
  }

  #put<T extends KubeObject>(store: Store<T>, named: ObjectMeta, fields: object): void {
    this.#version += 1;
    const metadata = { ...named, resourceVersion: String(this.#version) };
    // Only the fields that are read.
    store.upsertIfNewer({ apiVersion: 'v1', kind: 'Any', metadata, ...fields } as unknown as T);
  }
}

test('only the files of machines that changed are written again', async () => {
  await using fixture = new HostsFixture();
  await fixture.writer.write();
  assert.equal(Object.keys(fixture.files('hosts')).length, machineCount);
  assert.equal(Object.keys(fixture.files('options')).length, machineCount);
  assert.deepEqual(fixture.counts, { bootfiles: machineCount, forgets: 0 });

  fixture.setMachine(7, 'Pending');
  fixture.setMachine(8, 'Ready');
  fixture.clock.advance(200);
  await fixture.writer[Symbol.asyncDispose]();
  assert.equal(fixture.files('options')[fileOf(7)], undefined, 'it is led nowhere any more');
  assert.match(fixture.files('options')[fileOf(8)] ?? '', /boot\.test/);
  assert.equal(Object.keys(fixture.files('hosts')).length, machineCount);
  assert.deepEqual(fixture.counts, { bootfiles: machineCount + 1, forgets: 1 });
});

test('the files of a removed machine are removed, and concurrent changes are written in one batch', async () => {
  await using fixture = new HostsFixture();
  await fixture.writer.write();
  fixture.removeMachine(1);
  fixture.removeMachine(2);
  assert.equal(fixture.clock.pending, 1);
  fixture.clock.advance(200);
  await fixture.writer[Symbol.asyncDispose]();
  assert.deepEqual([fixture.files('hosts')[fileOf(1)], fixture.files('options')[fileOf(2)]], [undefined, undefined]);
  assert.equal(fixture.counts.forgets, 1);
});

test('files of an earlier process are removed', async () => {
  await using fixture = new HostsFixture();
  mkdirSync(join(fixture.directory, 'hosts'));
  writeFileSync(join(fixture.directory, 'hosts', '020000ffffff'), 'gone');
  await fixture.writer.write();
  assert.equal(Object.keys(fixture.files('hosts')).length, machineCount);
  assert.equal(fixture.counts.forgets, 1);
});

test('a change during the initial write is written after it', async () => {
  await using fixture = new HostsFixture();
  const writing = fixture.writer.write();
  fixture.setMachine(7, 'Pending');
  fixture.clock.advance(200);
  await writing;
  await fixture.writer[Symbol.asyncDispose]();
  assert.equal(fixture.files('options')[fileOf(7)], undefined);
  assert.equal(Object.keys(fixture.files('options')).length, machineCount - 1);
});

test('a failed write is retried together with later changes', async () => {
  await using fixture = new HostsFixture();
  await fixture.writer.write();
  // A directory in the place of the file: it cannot be removed.
  const blockingDirectory = join(fixture.directory, 'options', fileOf(7));
  rmSync(blockingDirectory);
  mkdirSync(blockingDirectory);
  fixture.setMachine(7, 'Pending');
  fixture.setMachine(9, 'Pending');
  fixture.clock.advance(200);
  await fixture.untilRetryScheduled();
  assert.equal(
    fixture.files('options', fileOf(7))[fileOf(9)],
    undefined,
    'the one that cannot be written holds up no other',
  );
  rmdirSync(blockingDirectory);
  fixture.setMachine(8, 'Pending');
  fixture.clock.advance(5_000);
  await fixture.writer[Symbol.asyncDispose]();
  assert.deepEqual([fixture.files('options')[fileOf(7)], fixture.files('options')[fileOf(8)]], [undefined, undefined]);
  assert.equal(fixture.counts.forgets, 2, 'once for each time that something went');
});
