import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { createClock } from '@metal/kube/runtime/clock.ts';
import { parseChallenge } from './challenge.ts';
import { type ImageReference, parseImageReference } from './reference.ts';
import { RegistryClient } from './registry-client.ts';
import { parseCredentials, RegistryCredentials } from './registry-credentials.ts';

const signal = new AbortController().signal;
const digest = `sha256:${'a'.repeat(64)}`;

/** A registry with this handler, which records the authorization of each request. */
async function host(handler: (request: IncomingMessage, response: ServerResponse, name: string) => void) {
  const requests: { path: string; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? '', authorization: request.headers.authorization });
    handler(request, response, name);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const name = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { name, requests, [Symbol.dispose]: close };
}

interface ClientOptions {
  path?: string;
  insecure?: string[];
  guard?: typeof globalThis.fetch;
}

function clientFor(registry: string, { path, insecure = [registry], guard }: ClientOptions = {}) {
  const credentials = new RegistryCredentials(path);
  return new RegistryClient({
    allowed: [registry],
    insecure,
    credentials,
    clock: createClock(),
    fetchElsewhere: guard,
  });
}

const at = (registry: string): ImageReference => {
  const reference = parseImageReference(`${registry}/org/os:1`);
  assert.ok(reference);
  return reference;
};

async function credentialsFor(registry: string): Promise<AsyncDisposable & { path: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'metal-boot-test-'));
  const path = join(directory, 'config.json');
  await writeFile(path, JSON.stringify({ auths: { [registry]: { auth: btoa('user:secret') } } }));
  return { path, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
}

test('a token is fetched with the credentials after a Bearer challenge, and cached', async () => {
  using registry = await host((request, response, name) => {
    if (request.url?.startsWith('/token')) return response.end('{"token": "t", "expires_in": 300}');
    if (request.headers.authorization === 'Bearer t') return response.end('{}');
    const challenge = `Bearer realm="http://${name}/token",service="a registry",scope="repository:other:push"`;
    return response.writeHead(401, { 'www-authenticate': challenge }).end();
  });
  await using file = await credentialsFor(registry.name);
  const client = clientFor(registry.name, file);
  await client.document(at(registry.name), undefined, signal);
  await client.document(at(registry.name), undefined, signal);
  const manifests = '/v2/org/os/manifests/1';
  assert.deepEqual(registry.requests, [
    { path: manifests, authorization: undefined },
    {
      path: '/token?service=a+registry&scope=repository%3Aorg%2Fos%3Apull',
      authorization: `Basic ${btoa('user:secret')}`,
    },
    { path: manifests, authorization: 'Bearer t' },
    { path: manifests, authorization: 'Bearer t' },
  ]);
});

test('Basic credentials are sent only after a challenge', async () => {
  using registry = await host((request, response) =>
    request.headers.authorization === `Basic ${btoa('user:secret')}`
      ? response.end('{}')
      : response.writeHead(401, { 'www-authenticate': 'Basic realm="r"' }).end(),
  );
  await using file = await credentialsFor(registry.name);
  await clientFor(registry.name, file).document(at(registry.name), undefined, signal);
  assert.deepEqual(
    registry.requests.map(({ authorization }) => authorization !== undefined),
    [false, true],
  );
});

test('a store on another host receives no credentials', async () => {
  using store = await host((_request, response) => response.end('a kernel'));
  using registry = await host((request, response) =>
    request.headers.authorization === undefined
      ? response.writeHead(401, { 'www-authenticate': 'Basic realm="r"' }).end()
      : response.writeHead(307, { location: `http://${store.name}/blob?signature=1` }).end(),
  );
  await using file = await credentialsFor(registry.name);
  const blob = await clientFor(registry.name, file).blob(at(registry.name), digest, signal);
  assert.equal(await text(blob), 'a kernel');
  assert.deepEqual(store.requests, [{ path: '/blob?signature=1', authorization: undefined }]);
});

test('requests to token services and stores on other hosts use the guarded fetch, those to the registry do not', async () => {
  const requests: string[] = [];
  const guard: typeof globalThis.fetch = async (url) => {
    requests.push(url instanceof URL ? url.href : '');
    throw new TypeError('fetch failed', { cause: new Error('10.0.0.1 is refused') });
  };
  using leading = await host((_request, response) =>
    response.writeHead(307, { location: 'http://10.0.0.1/blob' }).end(),
  );
  using asking = await host((_request, response) =>
    response.writeHead(401, { 'www-authenticate': 'Bearer realm="http://10.0.0.1/token"' }).end(),
  );
  for (const { name } of [leading, asking])
    await assert.rejects(clientFor(name, { guard }).document(at(name), undefined, signal), {
      code: 'RegistryUnreachable',
      message: /is refused/,
    });
  assert.deepEqual(requests, ['http://10.0.0.1/blob', 'http://10.0.0.1/token?scope=repository%3Aorg%2Fos%3Apull']);
});

const errorRows: [string, (response: ServerResponse, name: string) => unknown, string, RegExp][] = [
  ['403', (response) => response.writeHead(403).end(), 'RegistryDenied', /answers 403/],
  [
    '401 without a challenge',
    (response) => response.writeHead(401).end(),
    'RegistryDenied',
    /wants credentials, and there are none/,
  ],
  ['404', (response) => response.writeHead(404).end(), 'ImageMissing', /has no ".*\/org\/os:1"/],
  ['500', (response) => response.writeHead(500).end(), 'RegistryUnreachable', /answers 500/],
  ['429', (response) => response.writeHead(429).end(), 'RegistryUnreachable', /answers 429/],
  ['a broken connection', (response) => response.destroy(), 'RegistryUnreachable', /does not answer/],
  [
    'redirects without end',
    (response, name) => response.writeHead(302, { location: `http://${name}/again` }).end(),
    'RegistryUnreachable',
    /more than 5 times/,
  ],
  [
    'a redirect to a file',
    (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    'RegistryUnreachable',
    /not https/,
  ],
  [
    'a manifest of another digest',
    (response) => response.writeHead(200, { 'docker-content-digest': digest }).end('{}'),
    'DigestMismatch',
    /expected sha256:aaa/,
  ],
  ['a manifest without end', (response) => response.end(Buffer.alloc(5_000_000)), 'ImageMalformed', /more than/],
];
for (const [title, respond, code, message] of errorRows) {
  test(`the error for a registry that sends ${title} is ${code}`, async () => {
    using registry = await host((_request, response, name) => respond(response, name));
    await assert.rejects(clientFor(registry.name).document(at(registry.name), undefined, signal), { code, message });
  });
}

test('a registry is used with TLS unless it is listed as insecure', async () => {
  using registry = await host((_request, response) => response.end('{}'));
  const client = clientFor(registry.name, { insecure: [] });
  await assert.rejects(client.document(at(registry.name), undefined, signal), { code: 'RegistryUnreachable' });
  assert.deepEqual(registry.requests, []);
});

test('a registry that is not allowed receives no request', async () => {
  using registry = await host((_request, response) => response.end('{}'));
  const client = clientFor('registry.test');
  await assert.rejects(client.document(at(registry.name), undefined, signal), {
    code: 'RegistryNotAllowed',
    message: /expected one that --allowed-registries names$/,
  });
  assert.deepEqual(registry.requests, []);
});

test('the error about a credentials file does not quote it', async () => {
  await using file = await credentialsFor('registry.test');
  await writeFile(file.path, '{"auths": secret');
  await assert.rejects(new RegistryCredentials(file.path).of('registry.test'), (error: Error) => {
    assert.match(error.message, /no docker config\.json/);
    return !/secret/.test(error.message);
  });
  await assert.rejects(new RegistryCredentials('/nowhere').of('r'), { message: /ENOENT/ });
});

test('credentials are found by the names that Docker writes', () => {
  const known = parseCredentials(
    JSON.stringify({
      auths: {
        'https://index.docker.io/v1/': { auth: btoa('hub:p:w') },
        'GHCR.io': { username: 'user', password: 'secret' },
        empty: {},
      },
    }),
  );
  assert.deepEqual([...known.keys()], ['docker.io', 'ghcr.io']);
  assert.equal(known.get('docker.io')?.revealBasic(), `Basic ${btoa('hub:p:w')}`);
  assert.equal(`${String(known.get('ghcr.io'))}${JSON.stringify(known.get('ghcr.io'))}`, '***"***"');
});

const challenges: [string | null, unknown][] = [
  [null, undefined],
  ['Negotiate', undefined],
  ['Basic realm="Registry"', { scheme: 'basic' }],
  [
    'bearer REALM=https://a.test/t',
    { scheme: 'bearer', realm: 'https://a.test/t', service: undefined, scope: undefined },
  ],
  [
    'Basic realm="r", Bearer realm="https://a.test/t",service="s \\"q\\"",scope="repository:a:pull,push"',
    { scheme: 'bearer', realm: 'https://a.test/t', service: 's "q"', scope: 'repository:a:pull,push' },
  ],
];
for (const [header, expected] of challenges) {
  test(`the challenge ${header} is parsed`, () => assert.deepEqual(parseChallenge(header), expected));
}
