import { metadataFlavorHeader } from '@metal/api/wire/contract.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { RateLimit } from '@metal/http/rate-limit.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Identity } from './identity.ts';
import { metadataOf } from './metadata-map.ts';
import { Refusal } from './refusal.ts';
import type { UserDataReader } from './user-data.ts';

export interface RoutesOptions {
  identity: Identity;
  userData: UserDataReader;
  staticMetadata: Readonly<Record<string, string>>;
  limit: RateLimit;
  log: Logger;
}

type Anything = { Params: { '*': string } };

const served: ('GET' | 'HEAD')[] = ['GET', 'HEAD'];
const refused: ('POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS')[] = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const { name: flavorHeader, value: flavor } = metadataFlavorHeader;
/** What a refused request costs more than a good one: whoever tries addresses runs dry sooner. */
const refusalCost = 9;

/**
 *   GET /v1/                  everything, as JSON
 *   GET /v1/<field>           one field, as text; fields may contain slashes
 *   GET /v1/user-data         what the claim gives its machine, as JSON
 *   GET /v1/user-data/<key>   one value of it, byte for byte
 *
 * Judged in this order: header, route, who is asking.
 */
export function serveMetadata(http: FastifyInstance, options: RoutesOptions): void {
  answerRefusals(http, options);
  http.addHook('onRequest', async (request) => {
    const wait = options.limit.take(request.ip);
    if (wait > 0) throw new Refusal(429, 'too many requests from this address', { retryAfterSeconds: wait });
    // The header cannot be sent by a web page or a redirect: it tells a client that means us from one that was tricked.
    if (request.headers[flavorHeader.toLowerCase()] !== flavor)
      throw new Refusal(403, `missing required header: ${flavorHeader}: ${flavor}`);
  });
  http.addHook('onResponse', async (request, reply) => noteAccess(request, reply, options));
  http.route({ method: served, url: '/v1', handler: (_request, reply) => reply.redirect('/v1/', 301) });
  http.route<Anything>({
    method: served,
    url: '/v1/*',
    handler: async (request, reply) => {
      const server = await options.identity.of({
        peer: request.socket.remoteAddress ?? '',
        authorization: request.headers.authorization,
      });
      const { type, body } = await answerTo({ path: request.params['*'], server, gone: goneOf(reply) }, options);
      // A Buffer is sent as it is, with the type as it is.
      return reply.header('cache-control', 'no-store').header('content-type', type).send(Buffer.from(body));
    },
  });
  const refuseMethod = () => Promise.reject(new Refusal(405, 'Method Not Allowed'));
  for (const url of ['/v1', '/v1/*'])
    http.route({ method: refused, url, onRequest: refuseMethod, handler: refuseMethod });
}

interface Answer {
  readonly type: 'application/json' | 'text/plain; charset=utf-8';
  readonly body: string | Buffer;
}

interface Question {
  readonly path: string;
  readonly server: Server;
  /** Whoever asked it waits no longer. */
  readonly gone: AbortSignal;
}

function goneOf({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new Refusal(503, 'the client is gone'));
  // Who left while we found out who it is will not leave again.
  if (raw.destroyed) leave();
  else raw.once('close', leave);
  return gone.signal;
}

async function answerTo(
  { path, server, gone }: Question,
  { userData, staticMetadata }: RoutesOptions,
): Promise<Answer> {
  const metadata = metadataOf(server, staticMetadata);
  if (path === '') {
    const { values } = await userData.of(server, gone);
    return json({ ...Object.fromEntries(metadata), ...(values && { 'user-data': textsOf(values) }) });
  }
  if (path === 'user-data' || path.startsWith('user-data/')) {
    const { values, reason } = await userData.of(server, gone);
    if (values === undefined) throw new Refusal(404, `no user data: ${reason}`);
    return path === 'user-data' ? json(textsOf(values)) : plain(values.get(path.slice('user-data/'.length)));
  }
  return plain(metadata.get(path));
}

const textsOf = (values: ReadonlyMap<string, Buffer>): Record<string, string> =>
  Object.fromEntries([...values].map(([key, bytes]) => [key, bytes.toString('utf8')]));

const json = (value: object): Answer => ({ type: 'application/json', body: JSON.stringify(value) });

function plain(body: string | Buffer | undefined): Answer {
  if (body === undefined) throw new Refusal(404, 'there is no such field');
  return { type: 'text/plain; charset=utf-8', body };
}

function answerRefusals(http: FastifyInstance, { limit, log }: RoutesOptions): void {
  http.setErrorHandler((error, request, reply) => refuse(error, request, reply));
  http.setNotFoundHandler((request, reply) => refuse(new Refusal(404, 'nothing is served here'), request, reply));

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { status, message, retryAfterSeconds } = refusalFor(error);
    if (!(error instanceof Refusal)) log.error({ err: error, client: request.ip }, 'request failed');
    if (status !== 429 && status < 500) limit.take(request.ip, refusalCost);
    if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
    if (status === 405) reply.header('allow', 'GET, HEAD');
    return reply.code(status).header('content-type', 'text/plain; charset=utf-8').send(message);
  }
}

/** What is not known to be harmless stays in the log. */
function refusalFor(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' && status < 500
    ? new Refusal(400, 'the request is not well-formed')
    : new Refusal(500, 'not available now; try again');
}

function noteAccess(request: FastifyRequest, reply: FastifyReply, { log }: RoutesOptions): void {
  const { method, url, ip: client } = request;
  const { statusCode: status, elapsedTime } = reply;
  log.info({ client, durationMs: Math.round(elapsedTime), method, path: url.slice(0, 200), status }, 'request');
}
