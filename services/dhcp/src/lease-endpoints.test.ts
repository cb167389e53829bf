import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { createKubeClient } from '@metal/kube/client/client.ts';
import { createClock } from '@metal/kube/runtime/clock.ts';
import type { Store, Indexes } from '@metal/kube/cache/store.ts';
import { pino } from 'pino';
import { LeaseEndpoints } from './lease-endpoints.ts';
import type { LeaseEvent } from './lease-events.ts';
import { indexedStore } from '../test/machine-stores.ts';
import { machineIndexes } from './machines.ts';

type Written = string;
/** The status of the answer to what was written for the nth time. */
type StatusFor = (written: Written, nth: number) => number | Promise<number>;

interface Fixture {
  endpoints?: Endpoint[];
  bmcs?: BMC[];
  statusFor?: StatusFor;
}

/** The writes that reach an API server until there is enough of them, and those that were given up before their answer. */
async function writesOf(
  events: readonly LeaseEvent[],
  isEnough: (writes: readonly Written[]) => boolean,
  { endpoints = [], bmcs = [], statusFor = () => 200 }: Fixture = {},
): Promise<Written[]> {
  const writes: Written[] = [];
  const done = Promise.withResolvers<void>();
  const note = (written: Written): void => {
    writes.push(written);
    if (isEnough(writes)) done.resolve();
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      // Written by the client of this project.
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Endpoint;
      const name = body.metadata.name ?? new URL(request.url ?? '', 'http://x').pathname.split('/').at(-1);
      const { macAddress = '', ip = '' } = body.spec ?? {};
      const written = `${request.method} ${name} ${macAddress} ${ip}`.replaceAll('  ', ' ');
      response.on('close', () => response.writableEnded || note(`given up: ${written}`));
      void Promise.resolve(statusFor(written, timesOf(written, writes) + 1)).then((status) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      );
      note(written);
    });
  });
  const directory = mkdtempSync(join(tmpdir(), 'metal-endpoints-'));
  try {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo; // a TCP server that listens has one
    const kubeconfigPath = join(directory, 'kubeconfig');
    writeFileSync(kubeconfigPath, kubeconfigOf(`http://127.0.0.1:${port}`));
    await using client = createKubeClient({ kubeconfigPath });
    using leases = new LeaseEndpoints({
      client,
      caches: {
        endpoints: storeOf(endpoints, machineIndexes.endpoints),
        bmcs: storeOf(bmcs, machineIndexes.bmcs),
      },
      isManagementAddress: (ip) => ip.startsWith('10.'),
      isManagementDevice: (mac) => mac.startsWith('02:'),
      clock: createClock(100),
      log: pino({ level: 'silent' }),
    });
    for (const event of events) leases.onLeaseEvent(event);
    await done.promise;
    return writes.slice();
  } finally {
    server.close();
    rmSync(directory, { recursive: true });
  }
}

/** As many as are wanted came, whichever of them came first: several devices are brought at once. */
async function assertWrites(
  events: readonly LeaseEvent[],
  wanted: readonly Written[],
  fixture?: Fixture,
): Promise<void> {
  const writes = await writesOf(events, ({ length }) => length === wanted.length, fixture);
  assert.deepEqual(writes.toSorted(), wanted.toSorted());
}

const timesOf = (written: Written, writes: readonly Written[]): number =>
  writes.filter((other) => other === written).length;

const kubeconfigOf = (server: string): string =>
  JSON.stringify({
    clusters: [{ name: 'test', cluster: { server, 'insecure-skip-tls-verify': true } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    users: [{ name: 'test', user: {} }],
    'current-context': 'test',
  });

function storeOf<T extends Endpoint | BMC>(objects: readonly T[], indexes: Indexes<T>): Store<T> {
  const store = indexedStore(indexes);
  for (const object of objects) store.upsertIfNewer(object);
  return store;
}

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const metadataOf = (name: string, created: string) => ({
  name,
  uid: name,
  resourceVersion: '5',
  creationTimestamp: `2026-01-01T00:00:${created}Z`,
});
const endpoint = (name: string, macAddress: string, ip: string, created = '00'): Endpoint => ({
  apiVersion,
  kind: 'Endpoint',
  metadata: metadataOf(name, created),
  spec: { macAddress, ip },
});
const add = (macAddress: string, ip: string): LeaseEvent => ({ event: 'add', macAddress, ip, expiresAtMs: 0 });
const [one, two] = ['02:00:00:00:00:01', '02:00:00:00:00:02'];
const last = add('02:00:00:00:00:0f', '10.0.0.99');
const lastWritten = 'POST mac-02000000000f 02:00:00:00:00:0f 10.0.0.99';

for (const [what, event] of [
  ['an ended lease deletes no Endpoint', { ...add(one, '10.0.0.1'), event: 'del' }],
  ['a lease on another network creates no Endpoint', add(one, '192.0.2.1')],
  ['a device with an unknown MAC prefix gets no Endpoint', add('06:00:00:00:00:01', '10.0.0.1')],
  ['an Endpoint with the same address is not written', add('02:00:00:00:00:0a', '10.0.0.10')],
  ['an Endpoint that is being deleted is not written', add('02:00:00:00:00:0b', '10.0.0.11')],
  ['a BMC with an inline address gets no Endpoint', add('02:00:00:00:00:0c', '10.0.0.12')],
] as const) {
  test(what, async () => {
    const inline = { access: { macAddress: '02-00-00-00-00-0C', ip: '10.0.0.1' } };
    const leaving = endpoint('leaving', '02:00:00:00:00:0b', '10.0.0.1');
    // Refused once, it comes again when anything else would have come.
    await assertWrites([event, last], [lastWritten, lastWritten], {
      statusFor: (_, nth) => (nth === 1 ? 500 : 200),
      endpoints: [
        endpoint('there', '0200.0000.000A', '10.0.0.10'),
        { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
      ],
      // Only the fields that are read.
      bmcs: [{ apiVersion, kind: 'BMC', metadata: metadataOf('inline', '00'), spec: inline } as unknown as BMC],
    });
  });
}

test('a device without an Endpoint gets one that is named after its MAC address', () =>
  assertWrites([add(one, '10.0.0.1'), last], [`POST mac-020000000001 ${one} 10.0.0.1`, lastWritten]));

test('the older of two Endpoints with one MAC address gets the address of the lease', () =>
  assertWrites([add(one, '10.0.0.7'), last], ['PATCH older 10.0.0.7', lastWritten], {
    endpoints: [endpoint('younger', one, '10.0.0.1', '09'), endpoint('older', '02-00-00-00-00-01', '10.0.0.1', '01')],
  }));

const manyLeases = Array.from({ length: 20 }, (_, index) => add(`02:00:00:00:01:${index + 10}`, '10.0.1.1'));
const manyLeasesWritten = manyLeases.map(
  ({ macAddress: mac, ip }) => `POST mac-${mac.replaceAll(':', '')} ${mac} ${ip}`,
);

test('the last of several addresses of a device is written', () =>
  assertWrites(
    [...manyLeases, add(one, '10.0.0.1'), add(one, '10.0.0.2')],
    [...manyLeasesWritten, `POST mac-020000000001 ${one} 10.0.0.2`],
  ));

test('failed writes are retried, and a rejected device does not delay others', async () => {
  const rejected = `POST mac-020000000001 ${one} 10.0.0.1`;
  const wanted = `POST mac-020000000002 ${two} 10.0.0.2`;
  const statusFor = (written: Written, nth: number) => {
    if (written === rejected) return 422;
    return nth === 1 ? 500 : 200;
  };
  const isEnough = (writes: readonly Written[]) =>
    timesOf(rejected, writes) >= 4 && timesOf(wanted, writes) >= 2 && timesOf(lastWritten, writes) >= 2;
  const writes = await writesOf([add(one, '10.0.0.1'), add(two, '10.0.0.2'), last], isEnough, { statusFor });
  assert.deepEqual([timesOf(wanted, writes), timesOf(lastWritten, writes)], [2, 2]);
});

test('a slow write does not delay other devices', async () => {
  const [late = '', ...others] = manyLeasesWritten;
  const allCame = Promise.withResolvers<number>();
  const missing = new Set(others);
  const statusFor = (written: Written) => {
    missing.delete(written);
    if (missing.size === 0) allCame.resolve(200);
    return written === late ? allCame.promise : 200;
  };
  await assertWrites(manyLeases, [late, ...others], { statusFor });
});
