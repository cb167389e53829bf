import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { type ClientRequest, createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Server } from '@metal/api/v1alpha1/server.ts';
import type { BootTokens } from '@metal/api/wire/boot-tokens.ts';
import { metadataAddressesAnnotation } from '@metal/api/wire/contract.ts';
import { application } from '@metal/http/listen.ts';
import { RateLimit } from '@metal/http/rate-limit.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { discardEvents } from '@metal/kube/client/events.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { pino } from 'pino';
import { addressesOf } from './addresses.ts';
import { Identity } from './identity.ts';
import { serveMetadata } from './routes.ts';
import { UserDataReader } from './user-data.ts';

const machines = 60;
/** As in user-data.ts. */
const maxConcurrent = 8;

const server: Server = {
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name: 'node', resourceVersion: '1', annotations: { [metadataAddressesAnnotation]: '127.0.0.1' } },
  spec: { systemUUID: '0000', serverClaimRef: { name: 'claim', namespace: 'tenant', uid: 'uid-claim' } },
  status: { state: 'Reserved' },
};
const claim = {
  metadata: { name: 'claim', namespace: 'tenant', uid: 'uid-claim' },
  spec: { userDataRef: { name: 'x' } },
};
const secret = { metadata: { name: 'x', namespace: 'tenant' }, type: 'metal.ironcore.dev/user-data', data: {} };

/** Holds reads of claims until `releaseHeld`. Reads of Servers, as for machines that boot, are answered at once. */
async function openSlowApiServer() {
  const held: ServerResponse[] = [];
  const started: string[] = [];
  const holding = Promise.withResolvers<void>();
  let isSlow = true;
  const listener = createServer(({ url = '' }, response) => {
    const [kind, body] = url.includes('/serverclaims/') ? ['claim', claim] : ['Secret', secret];
    if (url.includes('/servers/')) return response.end(JSON.stringify(server));
    started.push(kind);
    if (!isSlow) return response.end(JSON.stringify(body));
    if (held.push(response) === maxConcurrent) holding.resolve();
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo; // it listens on a port
  const named = { name: 'it' };
  const kubeconfig = {
    'current-context': 'it',
    contexts: [{ ...named, context: { cluster: 'it', user: 'it' } }],
    clusters: [{ ...named, cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ ...named, user: {} }],
  };
  return {
    kubeconfig: JSON.stringify(kubeconfig),
    held,
    /** Reads, in the order of their requests. */
    started,
    holds: holding.promise,
    releaseHeld: () => {
      isSlow = false;
      for (const response of held) response.end(JSON.stringify(claim));
    },
    [Symbol.dispose]: () => {
      listener.closeAllConnections();
      listener.close();
    },
  };
}

interface UserDataResponse {
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/** Many machines that have requested their user data, and an API server that holds the reads. */
async function startBurst() {
  await using stack = new AsyncDisposableStack();
  const api = stack.use(await openSlowApiServer());
  const folder = stack.use(await mkdtempDisposable(join(tmpdir(), 'metal-metadata-')));
  const kubeconfigPath = join(folder.path, 'kubeconfig');
  await writeFile(kubeconfigPath, api.kubeconfig);
  const client = stack.use(createKubeClient({ kubeconfigPath })).withPool('boot');
  const servers = new Store<Server>();
  servers.addIndexes({ address: addressesOf });
  servers.upsertIfNewer(server);
  const [clock, log, events] = [fakeClock(), pino({ level: 'silent' }), discardEvents];
  const tokens = {} as BootTokens; // no request has a token
  const http = stack.adopt(application({ bodyLimit: 1, requestTimeout: 30_000 }), (opened) => {
    opened.server.closeAllConnections();
    return opened.close();
  });
  serveMetadata(http, {
    identity: new Identity({ auth: 'address', servers, tokens, events, clock, log }),
    userData: new UserDataReader({ client, events, clock, log }),
    staticMetadata: {},
    limit: new RateLimit({ clock, burst: 1_000, perSecond: 1 }),
    log,
  });
  const [allCame, allLeft] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let [came, left] = [0, 0];
  http.server.on('request', (_request: unknown, response: ServerResponse) => {
    response.once('close', () => (left += 1) === machines && allLeft.resolve());
    if ((came += 1) === machines) allCame.resolve();
  });
  const url = await http.listen({ host: '127.0.0.1', port: 0 });
  const sendRequest = (): ClientRequest =>
    get(`${url}/v1/user-data`, { agent: false, headers: { 'Metadata-Flavor': 'IronCore Metal' } });
  const requests = Array.from({ length: machines }, sendRequest);
  const responses = requests.map((sent) => responseTo(sent).catch(() => 'gave up' as const));
  await Promise.all([allCame.promise, api.holds]);
  await setImmediate();
  const owned = stack.move();
  return {
    api,
    clock,
    requests,
    responses,
    allLeft: allLeft.promise,
    requestOnce: () => responseTo(sendRequest()),
    /** A read of the boot service, over the same connections. */
    boots: () => client.find(Server, { name: 'booting' }, { signal: AbortSignal.timeout(60_000) }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function responseTo(sent: ClientRequest): Promise<UserDataResponse> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage]; // what the event carries
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode, retryAfter: response.headers['retry-after'], text };
}

test('an evicted claim gets no user data, also while its server is still Reserved', async () => {
  const client: Pick<KubeClient, 'find'> = { find: () => assert.fail('nothing is read') };
  const reader = new UserDataReader({
    client,
    events: discardEvents,
    clock: fakeClock(),
    log: pino({ level: 'silent' }),
  });
  const { reason } = await reader.of(evictedServer(), new AbortController().signal);
  assert.equal(reason, 'the claim of this server was evicted');
});

for (const [title, live, reason] of [
  ['was released meanwhile', { ...server, status: { state: 'Available' } }, 'this server is Available, not Reserved'],
  ['was evicted meanwhile', evictedServer(), 'the claim of this server was evicted'],
  ['was deleted meanwhile', undefined, 'this server is gone'],
] as const)
  test(`a server that ${title} gets no user data, although the cache does not show it yet`, async () => {
    const client = { find: async () => live } as unknown as Pick<KubeClient, 'find'>; // only the Server is read
    const log = pino({ level: 'silent' });
    const reader = new UserDataReader({ client, events: discardEvents, clock: fakeClock(), log });
    assert.deepEqual(await reader.of(server, new AbortController().signal), { reason });
  });

function evictedServer(): Server {
  const { serverClaimRef } = server.spec;
  assert.ok(serverClaimRef);
  return { ...server, spec: { ...server.spec, serverClaimRef: { ...serverClaimRef, evicted: true } } };
}

test('requests for user data beyond the limit wait, and do not delay machines that boot', async () => {
  await using burst = await startBurst();
  assert.equal((await burst.boots())?.metadata.name, 'node');
  assert.equal(burst.api.held.length, maxConcurrent);
  burst.clock.advance(5_000);
  burst.api.releaseHeld();
  const responses = (await Promise.all(burst.responses)).filter((response) => response !== 'gave up');
  const rejected = responses.filter(({ status }) => status === 503);
  assert.deepEqual([responses.length, rejected.length], [machines, machines - maxConcurrent]);
  assert.equal(responses.filter(({ status }) => status === 200).length, maxConcurrent);
  for (const response of rejected)
    assert.deepEqual(response, { status: 503, retryAfter: '5', text: 'too many machines ask at once; try again' });
  assert.equal(burst.api.started.length, 2 * maxConcurrent, 'a rejected request causes no API request');
});

test('no read starts for machines that closed their connections, and the next request is served', async () => {
  await using burst = await startBurst();
  for (const sent of burst.requests) sent.destroy();
  await burst.allLeft;
  burst.api.releaseHeld();
  assert.deepEqual(await burst.requestOnce(), { status: 200, retryAfter: undefined, text: '{}' });
  const ofTheBurst = Array.from({ length: maxConcurrent }, () => 'claim');
  assert.deepEqual(burst.api.started, [...ofTheBurst, 'claim', 'Secret']);
});

test('a read has a deadline of ten seconds, which starts when the request gets its place', async (t) => {
  const deadlines: { ms: number; pass: () => void }[] = [];
  t.mock.method(AbortSignal, 'timeout', (ms: number) => {
    const controller = new AbortController();
    deadlines.push({ ms, pass: () => controller.abort(new Error('deadline exceeded')) });
    return controller.signal;
  });
  await using burst = await startBurst();
  assert.deepEqual(
    deadlines.map(({ ms }) => ms),
    Array.from({ length: maxConcurrent }, () => 10_000),
    'a waiting request has its full deadline',
  );
  burst.clock.advance(5_000);
  for (const { pass } of deadlines) pass();
  const statuses = (await Promise.all(burst.responses)).map((response) =>
    response === 'gave up' ? response : response.status,
  );
  assert.deepEqual(
    [500, 503].map((wanted) => statuses.filter((status) => status === wanted).length),
    [maxConcurrent, machines - maxConcurrent],
  );
});
