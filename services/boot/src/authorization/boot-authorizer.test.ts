import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { BootTokens } from '@metal/api/wire/boot-tokens.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import type { Kind } from '@metal/kube/kinds/kind.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { BootAuthorizer } from './boot-authorizer.ts';
import { OverloadedError } from '@metal/http/http-error.ts';
import { UnknownMachines } from './unknown-machines.ts';

const serverOf = (index: number): Server => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name: `server-${index}`, uid: `uid-${index}`, resourceVersion: '1' },
  spec: {
    systemUUID: `0000-${index}`,
    power: 'On',
    bootConfigurationRef: { name: `boot-${index}`, namespace: 'default' },
  },
});

const bootOf = (index: number): ServerBootConfiguration => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'ServerBootConfiguration',
  metadata: { name: `boot-${index}`, namespace: 'default', uid: `uid-boot-${index}`, resourceVersion: '1' },
  spec: { serverRef: { name: `server-${index}` } },
  status: { state: 'Ready' },
});

/** Many machines with requests at the same time, and an API server whose responses the test releases. */
function startBurst(count: number, { withBoot = true } = {}) {
  const [servers, bootConfigurations] = [new Store<Server>(), new Store<ServerBootConfiguration>()];
  const known = Array.from({ length: count }, (_, index) => serverOf(index));
  servers.addIndexes({ uuid: ({ spec }) => [spec.systemUUID.toLowerCase()] });
  for (const server of known) servers.upsertIfNewer(server);
  if (withBoot) for (const index of known.keys()) bootConfigurations.upsertIfNewer(bootOf(index));
  const requests: { respond: () => void }[] = [];
  const find = (kind: Kind, { name }: { name: string }) =>
    new Promise((resolve) => {
      const found = kind.kind === Server.kind ? known.find(({ metadata }) => metadata.name === name) : undefined;
      requests.push({ respond: () => resolve(found) });
    });
  const clock = fakeClock();
  const machines = new BootAuthorizer({
    client: { find: find as KubeClient['find'] }, // returns objects of the requested kinds
    tokens: {} as BootTokens, // no request has a token
    servers,
    bootConfigurations,
    unknownMachines: new UnknownMachines(),
    clock,
  });
  const results = { succeeded: 0, rejected: [] as OverloadedError[] };
  const all = Promise.all(
    known.map(async (server) => {
      try {
        await machines.decide(server);
        results.succeeded += 1;
      } catch (error) {
        assert.ok(error instanceof OverloadedError);
        results.rejected.push(error);
      }
    }),
  );
  const expireQueue = () => clock.advance(5_000);
  return { requests, all, results, expireQueue };
}

/** Until nothing more happens by itself. */
const flush = () => setImmediate();

test('the objects of twelve machines are read at the same time, and other machines wait', async () => {
  const { requests, all, results } = startBurst(40);
  await flush();
  assert.equal(requests.length, 24, 'a Server and a boot configuration each');
  for (let index = 0; results.succeeded < 40; index += 1) {
    requests[index]?.respond();
    await flush();
    const open: number = requests.length - index - 1;
    assert.ok(open <= 24, `${open} requests under way`);
  }
  await all;
  assert.deepEqual(results.rejected, []);
});

test('a machine that waits too long gets 503 with Retry-After and causes no API request', async () => {
  const { requests, all, results, expireQueue } = startBurst(40);
  await flush();
  expireQueue();
  await flush();
  assert.equal(results.rejected.length, 28);
  assert.deepEqual(
    [results.rejected[0]?.status, results.rejected[0]?.retryAfterSeconds],
    [503, 5],
    'iPXE waits this long before it retries',
  );
  for (const { respond } of requests) respond();
  await all;
  assert.equal(results.succeeded, 12);
  assert.equal(requests.length, 24);
});

test('a machine without a boot in the cache gets 503 without Retry-After, so that it continues with its disk', async () => {
  const { requests, all, results, expireQueue } = startBurst(13, { withBoot: false });
  await flush();
  expireQueue();
  for (const { respond } of requests) respond();
  await all;
  const [overloaded] = results.rejected;
  assert.deepEqual([results.rejected.length, overloaded?.status, overloaded?.retryAfterSeconds], [1, 503, undefined]);
});

const duplicates = (claimed: boolean): [older: Server, younger: Server] => {
  const named = (name: string, day: number): Server => ({
    ...serverOf(0),
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: `2026-01-0${day}T00:00:00Z` },
  });
  const [older, younger] = [named('older', 1), named('younger', 2)];
  younger.spec = { ...younger.spec, systemUUID: older.spec.systemUUID.toUpperCase() };
  if (claimed) younger.spec.serverClaimRef = { namespace: 'team', name: 'claim' };
  return [older, younger];
};

/** A boot service with these Servers in its cache; the API server returns the same, or the given ones. */
function machinesOf(servers: readonly Server[], live: readonly Server[] = servers): BootAuthorizer {
  const [store, bootConfigurations] = [new Store<Server>(), new Store<ServerBootConfiguration>()];
  store.addIndexes({ uuid: ({ spec }) => [spec.systemUUID.toLowerCase()] });
  for (const server of servers) store.upsertIfNewer(server);
  const boots = servers.map(({ metadata }) => ({ ...bootOf(0), spec: { serverRef: { name: metadata.name } } }));
  const find = async (kind: Kind, { name }: { name: string }) =>
    kind.kind === Server.kind ? live.find(({ metadata }) => metadata.name === name) : boots.at(-1);
  return new BootAuthorizer({
    client: { find: find as KubeClient['find'] }, // returns objects of the requested kinds
    tokens: { find: async () => boots.at(-1) } as Pick<BootTokens, 'find'> as BootTokens, // only this method is called
    servers: store,
    bootConfigurations,
    unknownMachines: new UnknownMachines(),
    clock: fakeClock(),
  });
}

for (const [claimed, name] of [
  [false, 'older'],
  [true, 'younger'],
] as const) {
  test(`the ${name} of two Servers with one UUID is served${claimed ? ', as it has a claim' : ''}`, () => {
    assert.equal(machinesOf(duplicates(claimed)).byUuid('0000-0').metadata.name, name);
  });
}

test('the API server determines which of two Servers with one UUID is served', async () => {
  const [older, younger] = duplicates(true);
  const machines = machinesOf(
    [older, younger],
    [older, { ...younger, spec: { ...younger.spec, serverClaimRef: undefined } }],
  );
  assert.match((await machines.decide(younger)).reason ?? '', /^Server older has the same system UUID and is acted on/);
});

test('a token for the Server that is not managed is denied', async () => {
  await assert.rejects(machinesOf(duplicates(false)).byToken('token'), /Server older has the same system UUID/);
  await assert.rejects(
    machinesOf(duplicates(false)).confirmedByToken('token'),
    /Server older has the same system UUID/,
  );
});
