import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { BootTokens } from '@metal/api/wire/boot-tokens.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import { handClock } from '@metal/kube/hand-clock.ts';
import type { Kind } from '@metal/kube/kind.ts';
import { Store } from '@metal/kube/store.ts';
import { Machines } from './machines.ts';
import { Flood } from './refusal.ts';
import { Strangers } from './strangers.ts';

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

/** A hall of machines that ask at once, and an API server that answers when it is told to. */
function openHall(count: number, { withBoot = true } = {}) {
  const [servers, bootConfigurations] = [new Store<Server>(), new Store<ServerBootConfiguration>()];
  const known = Array.from({ length: count }, (_, index) => serverOf(index));
  servers.addIndexes({ uuid: ({ spec }) => [spec.systemUUID.toLowerCase()] });
  for (const server of known) servers.absorb(server);
  if (withBoot) for (const index of known.keys()) bootConfigurations.absorb(bootOf(index));
  const asked: { answer: () => void }[] = [];
  const find = (kind: Kind, { name }: { name: string }) =>
    new Promise((resolve) => {
      const found = kind.kind === Server.kind ? known.find(({ metadata }) => metadata.name === name) : undefined;
      asked.push({ answer: () => resolve(found) });
    });
  const clock = handClock();
  const machines = new Machines({
    client: { find: find as KubeClient['find'] }, // objects of the kinds that are asked for here
    tokens: {} as BootTokens, // nobody comes with a token
    servers,
    bootConfigurations,
    strangers: new Strangers(),
    clock,
  });
  const settled = { answered: 0, floods: [] as Flood[] };
  const all = Promise.all(
    known.map(async (server) => {
      try {
        await machines.expectationOf(server);
        settled.answered += 1;
      } catch (error) {
        assert.ok(error instanceof Flood);
        settled.floods.push(error);
      }
    }),
  );
  const losePatience = () => clock.advance(5_000);
  return { asked, all, settled, losePatience };
}

/** Until nothing more happens by itself. */
const quiet = () => setImmediate();

test('a hall that is powered on at once waits in line: the API server is asked about twelve machines at a time', async () => {
  const { asked, all, settled } = openHall(40);
  await quiet();
  assert.equal(asked.length, 24, 'a Server and a boot configuration each');
  for (let index = 0; settled.answered < 40; index += 1) {
    asked[index]?.answer();
    await quiet();
    const open: number = asked.length - index - 1;
    assert.ok(open <= 24, `${open} requests under way`);
  }
  await all;
  assert.deepEqual(settled.floods, []);
});

test('who would wait in line for too long comes again, and asks the API server for nothing', async () => {
  const { asked, all, settled, losePatience } = openHall(40);
  await quiet();
  losePatience();
  await quiet();
  assert.equal(settled.floods.length, 28);
  assert.deepEqual(
    [settled.floods[0]?.status, settled.floods[0]?.retryAfterSeconds],
    [503, 5],
    'iPXE waits that long and asks again by itself',
  );
  for (const { answer } of asked) answer();
  await all;
  assert.equal(settled.answered, 12);
  assert.equal(asked.length, 24);
});

test('who seems to boot nothing from the network is not kept from its disk: a try of the entry script is used up', async () => {
  const { asked, all, settled, losePatience } = openHall(13, { withBoot: false });
  await quiet();
  losePatience();
  for (const { answer } of asked) answer();
  await all;
  const [flood] = settled.floods;
  assert.deepEqual([settled.floods.length, flood?.status, flood?.retryAfterSeconds], [1, 503, undefined]);
});

const sameMachine = (claimed: boolean): [older: Server, younger: Server] => {
  const named = (name: string, day: number): Server => ({
    ...serverOf(0),
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: `2026-01-0${day}T00:00:00Z` },
  });
  const [older, younger] = [named('older', 1), named('younger', 2)];
  younger.spec = { ...younger.spec, systemUUID: older.spec.systemUUID.toUpperCase() };
  if (claimed) younger.spec.serverClaimRef = { namespace: 'team', name: 'claim' };
  return [older, younger];
};

/** A boot service that knows of these Servers; the API server tells the same of them, or what is said. */
function machinesOf(servers: readonly Server[], told: readonly Server[] = servers): Machines {
  const [store, bootConfigurations] = [new Store<Server>(), new Store<ServerBootConfiguration>()];
  store.addIndexes({ uuid: ({ spec }) => [spec.systemUUID.toLowerCase()] });
  for (const server of servers) store.absorb(server);
  const boots = servers.map(({ metadata }) => ({ ...bootOf(0), spec: { serverRef: { name: metadata.name } } }));
  const find = async (kind: Kind, { name }: { name: string }) =>
    kind.kind === Server.kind ? told.find(({ metadata }) => metadata.name === name) : boots.at(-1);
  return new Machines({
    client: { find: find as KubeClient['find'] }, // objects of the kinds that are asked for here
    tokens: { find: async () => boots.at(-1) } as Pick<BootTokens, 'find'> as BootTokens, // nothing else is asked of it
    servers: store,
    bootConfigurations,
    strangers: new Strangers(),
    clock: handClock(),
  });
}

for (const [claimed, name] of [
  [false, 'older'],
  [true, 'younger'],
] as const) {
  test(`of two Servers with one UUID the ${name} one is served${claimed ? ', as it has a claim' : ''}`, () => {
    assert.equal(machinesOf(sameMachine(claimed)).byUuid('0000-0').metadata.name, name);
  });
}

test('what the API server says decides which of two Servers with one UUID is served', async () => {
  const [older, younger] = sameMachine(true);
  const machines = machinesOf(
    [older, younger],
    [older, { ...younger, spec: { ...younger.spec, serverClaimRef: undefined } }],
  );
  assert.match(
    (await machines.expectationOf(younger)).reason ?? '',
    /^Server older has the same system UUID and is acted on/,
  );
});

test('a token of a boot of the Server that is not acted on is refused', async () => {
  await assert.rejects(machinesOf(sameMachine(false)).byToken('token'), /Server older has the same system UUID/);
  await assert.rejects(
    machinesOf(sameMachine(false)).confirmedByToken('token'),
    /Server older has the same system UUID/,
  );
});
