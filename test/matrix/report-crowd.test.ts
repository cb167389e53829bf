import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { after, before, test } from 'node:test';
import { createKubeClient } from '@metal/kube/client.ts';
import { type Clock, systemClock } from '@metal/kube/clock.ts';
import { ApiServerRelay } from '@metal/lab/api-server-relay.ts';
import { type RegistryOptions, type RunningRegistry, startRegistry } from '@metal/registry/registry.ts';
import { type BootingServer, openServiceRoom, type ServiceRoom } from '../stories/service-room.ts';

/** See services/registry/src/report-line.ts. */
const [mostAtOnce, mostBodies] = [24, 128];

let room: ServiceRoom;

before(async () => {
  room = await openServiceRoom();
});
after(() => room[Symbol.asyncDispose]());

function registryWith(more: Partial<RegistryOptions>): Promise<RunningRegistry> {
  const { client, servers, bootConfigurations, inventories, erasures, bootTokenKey, clock, log } = room;
  const caches = { servers, bootConfigurations, inventories, erasures };
  const listen = { host: '127.0.0.1', port: 0 };
  return startRegistry({ listen, auth: 'token', client, ...caches, bootTokenKey, clock, log, ...more });
}

const bodyOf = ({ uuid }: BootingServer): string =>
  JSON.stringify({
    systemUUID: uuid,
    data: { networkInterfaces: [{ name: 'eth0', macAddress: '52:54:00:00:00:01' }] },
  });

interface Answer {
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/** Without the end of its body until it is finished. */
function begin(server: BootingServer, { url }: RunningRegistry, localAddress = '127.0.0.1') {
  const body = bodyOf(server);
  const headers = { authorization: `Bearer ${server.token}`, 'content-length': Buffer.byteLength(body) };
  const sending = request(`${url}/register`, { method: 'POST', headers, localAddress, agent: false });
  const answer = answerTo(sending);
  sending.write(body.slice(0, 1));
  return { answer, finish: () => void sending.end(body.slice(1)) };
}

async function answerTo(sending: ClientRequest): Promise<Answer> {
  const [response] = (await once(sending, 'response')) as [IncomingMessage]; // what the event carries
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode, retryAfter: response.headers['retry-after'], text };
}

async function report(server: BootingServer, registry: RunningRegistry, localAddress?: string): Promise<Answer> {
  const { answer, finish } = begin(server, registry, localAddress);
  finish();
  return answer;
}

const isBusy = ({ status, retryAfter, text }: Answer): boolean =>
  status === 503 && retryAfter === '5' && text.includes('"Busy"');

/** Its timers run when it is told so. */
function patientClock() {
  const timers = new Set<() => void>();
  const wanted = { count: Number.POSITIVE_INFINITY, reached: () => {} };
  const clock: Clock = {
    ...systemClock,
    setTimeout: (_delayMs, callback) => {
      timers.add(callback);
      if (timers.size === wanted.count) wanted.reached();
      return { [Symbol.dispose]: () => void timers.delete(callback) };
    },
  };
  return {
    clock,
    /** So many wait for something to happen or for their time to be over. */
    waiting: (count: number) => new Promise<void>((reached) => Object.assign(wanted, { count, reached })),
    timeIsOver: () => {
      for (const callback of timers) callback();
    },
  };
}

test('machines that report to an API server that is slow wait in line, then come again, and lose nothing', async () => {
  await using relay = await ApiServerRelay.to(room.kubeconfigPath);
  await using client = createKubeClient({ kubeconfigPath: relay.kubeconfigPath });
  const { clock, waiting, timeIsOver } = patientClock();
  await using registry = await registryWith({ client, clock });
  const servers = await Promise.all(
    Array.from({ length: mostAtOnce + 3 }, (_, index) => room.discovering(`in-line-${index}`)),
  );
  relay.hold(({ method, path }) => method === 'POST' && path.includes('/serverinventories'));
  const [heldAll, threeWait] = [holds(relay, mostAtOnce), waiting(3)];
  const turnedAway: BootingServer[] = [];
  const threeLeft = Promise.withResolvers<void>();
  const answers = servers.map(async (server) => {
    const answer = await report(server, registry);
    if (isBusy(answer) && turnedAway.push(server) === 3) threeLeft.resolve();
    return answer.status;
  });
  await Promise.all([heldAll, threeWait]);
  timeIsOver();
  await threeLeft.promise;
  assert.equal(relay.held, mostAtOnce, 'the others are being written');
  relay.letGo();
  assert.equal((await Promise.all(answers)).filter((status) => status === 201).length, mostAtOnce);
  for (const server of turnedAway) assert.equal((await report(server, registry)).status, 201);
});

function holds(relay: ApiServerRelay, count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watching = relay.onChange(() => relay.held === count && resolve());
  return promise.finally(() => watching[Symbol.dispose]());
}

test('of reports that have begun no more than 128 are read, and one address does not keep others out', async () => {
  const [server, other] = [await room.discovering('crowded'), await room.discovering('elsewhere')];
  await using registry = await registryWith({});
  const begun = Array.from({ length: mostBodies + 1 }, () => begin(server, registry));
  const answers = begun.map(({ answer }) => answer.catch(() => 'made room' as const));
  const refused = await Promise.race(answers);
  assert.ok(refused !== 'made room' && isBusy(refused), 'one too many is told before its body is there');

  assert.equal((await report(other, registry, '127.9.9.9')).status, 201, 'an address with one finds room');
  for (const { finish } of begun) finish();
  const ends = (await Promise.all(answers)).map((end) => (end === 'made room' ? end : end.status));
  assert.deepEqual(
    [503, 'made room', undefined].map((wanted) => ends.filter((end) => end === wanted).length),
    [1, 1, 0],
  );
  assert.equal(ends.filter((end) => end === 201 || end === 200).length, mostBodies - 1);
});
