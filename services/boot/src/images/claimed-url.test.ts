import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { test } from 'node:test';
import { claimedArtefact } from './claimed-url.ts';
import { BootError } from '../errors.ts';
import { guardedFetch } from '@metal/http/guarded-fetch.ts';

const signal = new AbortController().signal;
const url = new URL('https://images.test/os/vmlinuz');

/** A server with this handler. */
function artefactOf(respond: (url: string) => Response | Promise<Response>) {
  const requested: string[] = [];
  const artefact = claimedArtefact(url, async (input, init) => {
    assert.equal(init?.redirect, 'manual', 'nothing is followed unseen');
    const text = input instanceof URL ? input.href : '';
    requested.push(text);
    return respond(text);
  });
  return { requested, artefact };
}

const leadingTo = (location: string): Response => new Response(null, { status: 302, headers: { location } });
const failing = (cause: string): never => {
  throw new TypeError('fetch failed', { cause: new Error(cause) });
};

const failures: readonly [title: string, respond: (url: string) => Response, cause: RegExp][] = [
  ['403', () => new Response(null, { status: 403 }), /^https:\/\/images\.test\/os\/vmlinuz answers 403/],
  ['404', () => new Response(null, { status: 404 }), /answers 404/],
  ['500', () => new Response(null, { status: 500 }), /answers 500/],
  [
    'a refused connection',
    () => failing('connect ECONNREFUSED 10.0.0.1:22'),
    /cannot be fetched: connect ECONNREFUSED/,
  ],
  ['a name that there is not', () => failing('getaddrinfo ENOTFOUND images.test'), /ENOTFOUND/],
  ['an address that is refused', () => failing('images.test has address 127.0.0.1'), /127\.0\.0\.1/],
  ['a redirect to another origin', () => leadingTo('http://169.254.169.254/latest'), /redirects to http:\/\/169/],
  ['a redirect to another port', () => leadingTo('https://images.test:8443/os/vmlinuz'), /redirects to https:.*:8443/],
  ['a redirect to nowhere', () => leadingTo('http://[/'), /redirects to nowhere/],
  ['redirects without end', () => leadingTo('/again'), /redirects more than 5 times/],
];
for (const [title, respond, cause] of failures) {
  test(`${title} has the same message as every other failure, with the cause for the log`, async () => {
    const { requested, artefact } = artefactOf(respond);
    const request = { method: 'GET', range: undefined, ifRange: undefined, ifNoneMatch: undefined, signal } as const;
    for (const attempt of [() => artefact.check(signal), () => artefact.deliver(request)])
      await assert.rejects(attempt, (error) => {
        assert.ok(error instanceof BootError && error.cause instanceof BootError);
        assert.equal(error.code, 'ImageUnavailable');
        assert.equal(
          error.message,
          'a file of the image cannot be fetched; expected vmlinuz and initrd below its URL; the log of the boot service has the cause',
        );
        assert.match(error.cause.message, cause);
        return true;
      });
    assert.deepEqual(
      requested.filter((each) => !each.startsWith('https://images.test/')),
      [],
      'no other server received a request',
    );
  });
}

test('over HTTP, a redirect to another server is not followed', async () => {
  let internal = 0;
  const listening = async (respond: RequestListener) => {
    const server = createServer(respond).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const close = () => {
      server.closeAllConnections();
      server.close();
    };
    return { port: typeof address === 'object' ? address?.port : 0, [Symbol.dispose]: close };
  };
  using inside = await listening((_request, response) => {
    internal += 1;
    response.end('credentials');
  });
  using tenant = await listening((_request, response) =>
    response.writeHead(302, { location: `http://127.0.0.1:${inside.port}/` }).end(),
  );
  await using guarded = guardedFetch(() => false);
  const artefact = claimedArtefact(new URL(`http://127.0.0.1:${tenant.port}/vmlinuz`), guarded.fetch);
  await assert.rejects(artefact.check(signal), { code: 'ImageUnavailable' });
  assert.equal(internal, 0);
});

test('a redirect within the origin is followed', async () => {
  const { requested, artefact } = artefactOf((each) =>
    each === url.href ? leadingTo('/v2/vmlinuz') : new Response('k'),
  );
  await artefact.check(signal);
  assert.deepEqual(requested, [url.href, 'https://images.test/v2/vmlinuz']);
});
