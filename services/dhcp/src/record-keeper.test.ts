import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { handClock } from '@metal/kube/hand-clock.ts';
import type { KubeObject, ObjectMeta } from '@metal/kube/kind.ts';
import type { Store } from '@metal/kube/store.ts';
import { pino } from 'pino';
import { machineStores } from './machine-stores.ts';
import { RecordKeeper } from './record-keeper.ts';

const machineCount = 100;
const mac = (number: number): string => `02:00:00:00:00:${number.toString(16).padStart(2, '0')}`;
const fileOf = (number: number): string => mac(number).replaceAll(':', '');

class Room implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'metal-record-keeper-'));
  readonly clock = handClock();
  readonly caches = machineStores();
  /** How many orders were put into words, and how often dnsmasq was told to forget. */
  readonly counts = { orders: 0, forgets: 0 };
  readonly keeper: RecordKeeper;
  #version = 0;

  constructor() {
    for (let number = 0; number < machineCount; number += 1) this.setMachine(number, 'Ready');
    this.keeper = new RecordKeeper({
      caches: this.caches,
      settings: { directory: this.directory, bootUrl: 'http://boot.test' },
      bootTokenKey: () => {
        this.counts.orders += 1;
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
  async untilItTriesAgain(): Promise<void> {
    for (let turn = 0; this.clock.pending === 0; turn += 1) {
      assert.ok(turn < 1_000_000, 'nothing is to be tried again');
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.keeper[Symbol.asyncDispose]();
    rmSync(this.directory, { recursive: true });
  }

  #put<T extends KubeObject>(store: Store<T>, named: ObjectMeta, fields: object): void {
    this.#version += 1;
    const metadata = { ...named, resourceVersion: String(this.#version) };
    // Only the fields that are looked at.
    store.absorb({ apiVersion: 'v1', kind: 'Any', metadata, ...fields } as unknown as T);
  }
}

test('of a fleet only the records of machines that changed are put into words again', async () => {
  await using room = new Room();
  await room.keeper.write();
  assert.equal(Object.keys(room.files('hosts')).length, machineCount);
  assert.equal(Object.keys(room.files('options')).length, machineCount);
  assert.deepEqual(room.counts, { orders: machineCount, forgets: 0 });

  room.setMachine(7, 'Pending');
  room.setMachine(8, 'Ready');
  room.clock.advance(200);
  await room.keeper[Symbol.asyncDispose]();
  assert.equal(room.files('options')[fileOf(7)], undefined, 'it is led nowhere any more');
  assert.match(room.files('options')[fileOf(8)] ?? '', /boot\.test/);
  assert.equal(Object.keys(room.files('hosts')).length, machineCount);
  assert.deepEqual(room.counts, { orders: machineCount + 1, forgets: 1 });
});

test('a machine that nobody knows any more is forgotten, and changes of one moment are written together', async () => {
  await using room = new Room();
  await room.keeper.write();
  room.removeMachine(1);
  room.removeMachine(2);
  assert.equal(room.clock.pending, 1);
  room.clock.advance(200);
  await room.keeper[Symbol.asyncDispose]();
  assert.deepEqual([room.files('hosts')[fileOf(1)], room.files('options')[fileOf(2)]], [undefined, undefined]);
  assert.equal(room.counts.forgets, 1);
});

test('what an earlier process left behind goes', async () => {
  await using room = new Room();
  mkdirSync(join(room.directory, 'hosts'));
  writeFileSync(join(room.directory, 'hosts', '020000ffffff'), 'gone');
  await room.keeper.write();
  assert.equal(Object.keys(room.files('hosts')).length, machineCount);
  assert.equal(room.counts.forgets, 1);
});

test('what changes while everything is written is written after it', async () => {
  await using room = new Room();
  const writing = room.keeper.write();
  room.setMachine(7, 'Pending');
  room.clock.advance(200);
  await writing;
  await room.keeper[Symbol.asyncDispose]();
  assert.equal(room.files('options')[fileOf(7)], undefined);
  assert.equal(Object.keys(room.files('options')).length, machineCount - 1);
});

test('what could not be written is tried again with what has changed since', async () => {
  await using room = new Room();
  await room.keeper.write();
  // A directory in the place of the file: it cannot be removed.
  const inTheWay = join(room.directory, 'options', fileOf(7));
  rmSync(inTheWay);
  mkdirSync(inTheWay);
  room.setMachine(7, 'Pending');
  room.setMachine(9, 'Pending');
  room.clock.advance(200);
  await room.untilItTriesAgain();
  assert.equal(
    room.files('options', fileOf(7))[fileOf(9)],
    undefined,
    'the one that cannot be written holds up no other',
  );
  rmdirSync(inTheWay);
  room.setMachine(8, 'Pending');
  room.clock.advance(5_000);
  await room.keeper[Symbol.asyncDispose]();
  assert.deepEqual([room.files('options')[fileOf(7)], room.files('options')[fileOf(8)]], [undefined, undefined]);
  assert.equal(room.counts.forgets, 2, 'once for each time that something went');
});
