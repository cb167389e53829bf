import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { after, before, test } from 'node:test';
import { createKubeClient } from '@metal/kube/client/client.ts';
import { type Clock, systemClock } from '@metal/kube/runtime/clock.ts';
import { ApiServerRelay } from '@metal/testenv/proxies/api-server-relay.ts';
import { type RegistryOptions, type RunningRegistry, startRegistry } from '@metal/registry/registry.ts';
import { type BootingServer, openServiceFixture, type ServiceFixture } from '@metal/testenv/cluster/service-fixture.ts';

/** See services/registry/src/request-limiter.ts. */
const [mostAtOnce, mostBodies] = [24, 128];

let fixture: ServiceFixture;

before(async () => {
  fixture = await openServiceFixture();
});
after(() => fixture[Symbol.asyncDispose]());

function registryWith(more: Partial<RegistryOptions>): Promise<RunningRegistry> {
  const { client, servers, bootConfigurations, inventories, erasures, bootTokenKey, clock, log } = fixture;
  const caches = { servers, bootConfigurations, inventories, erasures };
  const listen = { host: '127.0.0.1', port: 0 };
  return startRegistry({ listen, auth: 'token', client, ...caches, bootTokenKey, clock, log, ...more });
}

const bodyOf = ({ uuid }: BootingServer): string =>
  JSON.stringify({
    systemUUID: uuid,
    data: { networkInterfaces: [{ name: 'eth0', macAddress: '52:54:00:00:00:01' }] },
  });

interface HttpResponse {
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/** Leaves out the end of its body until `finish`. */
function beginReport(server: BootingServer, { url }: RunningRegistry, localAddress = '127.0.0.1') {
  const body = bodyOf(server);
  const headers = { authorization: `Bearer ${server.token}`, 'content-length': Buffer.byteLength(body) };
  const sending = request(`${url}/register`, { method: 'POST', headers, localAddress, agent: false });
  const response = responseTo(sending);
  sending.write(body.slice(0, 1));
  return { response, finish: () => void sending.end(body.slice(1)) };
}

async function responseTo(sending: ClientRequest): Promise<HttpResponse> {
  const [response] = (await once(sending, 'response')) as [IncomingMessage]; // what the event carries
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode, retryAfter: response.headers['retry-after'], text };
}

async function report(server: BootingServer, registry: RunningRegistry, localAddress?: string): Promise<HttpResponse> {
  const { response, finish } = beginReport(server, registry, localAddress);
  finish();
  return response;
}

const isBusy = ({ status, retryAfter, text }: HttpResponse): boolean =>
  status === 503 && retryAfter === '5' && text.includes('"Busy"');

/** A clock whose timers fire on request. */
function manualClock() {
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
    /** Resolves when this many timers are pending. */
    waiting: (count: number) => new Promise<void>((reached) => Object.assign(wanted, { count, reached })),
    fireTimers: () => {
      for (const callback of timers) callback();
    },
  };
}

test('reports to a slow API server are queued up to a limit, then rejected with a retry, and none is lost', async () => {
  await using relay = await ApiServerRelay.to(fixture.kubeconfigPath);
  await using client = createKubeClient({ kubeconfigPath: relay.kubeconfigPath });
  const { clock, waiting, fireTimers } = manualClock();
  await using registry = await registryWith({ client, clock });
  const servers = await Promise.all(
    Array.from({ length: mostAtOnce + 3 }, (_, index) => fixture.discovering(`in-line-${index}`)),
  );
  relay.hold(({ method, path }) => method === 'POST' && path.includes('/serverinventories'));
  const [heldAll, threeWait] = [untilHeld(relay, mostAtOnce), waiting(3)];
  const rejectedServers: BootingServer[] = [];
  const threeLeft = Promise.withResolvers<void>();
  const responses = servers.map(async (server) => {
    const response = await report(server, registry);
    if (isBusy(response) && rejectedServers.push(server) === 3) threeLeft.resolve();
    return response.status;
  });
  await Promise.all([heldAll, threeWait]);
  fireTimers();
  await threeLeft.promise;
  assert.equal(relay.held, mostAtOnce, 'the others are being written');
  relay.release();
  assert.equal((await Promise.all(responses)).filter((status) => status === 201).length, mostAtOnce);
  for (const server of rejectedServers) assert.equal((await report(server, registry)).status, 201);
});

function untilHeld(relay: ApiServerRelay, count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watching = relay.onChange(() => relay.held === count && resolve());
  return promise.finally(() => watching[Symbol.dispose]());
}

test('at most 128 report bodies are read at a time, and one address does not block others', async () => {
  const [server, other] = [await fixture.discovering('crowded'), await fixture.discovering('elsewhere')];
  await using registry = await registryWith({});
  const pendingReports = Array.from({ length: mostBodies + 1 }, () => beginReport(server, registry));
  const responses = pendingReports.map(({ response }) => response.catch(() => 'evicted' as const));
  const rejected = await Promise.race(responses);
  assert.ok(rejected !== 'evicted' && isBusy(rejected), 'one report too many is rejected before its body has arrived');

  assert.equal((await report(other, registry, '127.9.9.9')).status, 201, 'an address with only one report is served');
  for (const { finish } of pendingReports) finish();
  const ends = (await Promise.all(responses)).map((end) => (end === 'evicted' ? end : end.status));
  assert.deepEqual(
    [503, 'evicted', undefined].map((wanted) => ends.filter((end) => end === wanted).length),
    [1, 1, 0],
  );
  assert.equal(ends.filter((end) => end === 201 || end === 200).length, mostBodies - 1);
});
