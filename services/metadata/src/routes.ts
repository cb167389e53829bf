import { metadataFlavorHeader } from '@metal/api/wire/contract.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { RateLimit } from '@metal/http/rate-limit.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Identity } from './identity.ts';
import { metadataOf } from './metadata-map.ts';
import { HttpError } from './http-error.ts';
import type { UserDataReader } from './user-data.ts';

export interface RoutesOptions {
  identity: Identity;
  userData: UserDataReader;
  staticMetadata: Readonly<Record<string, string>>;
  limit: RateLimit;
  log: Logger;
}

type WildcardParams = { Params: { '*': string } };

const allowedMethods: ('GET' | 'HEAD')[] = ['GET', 'HEAD'];
const rejectedMethods: ('POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS')[] = [
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
];
const { name: flavorHeader, value: flavor } = metadataFlavorHeader;
/** What a refused request costs more than a good one: whoever tries addresses runs dry sooner. */
const errorCost = 9;

/**
 *   GET /v1/                  everything, as JSON
 *   GET /v1/<field>           one field, as text; fields may contain slashes
 *   GET /v1/user-data         what the claim gives its machine, as JSON
 *   GET /v1/user-data/<key>   one value of it, byte for byte
 *
 * Judged in this order: header, route, who is asking.
 */
export function serveMetadata(http: FastifyInstance, options: RoutesOptions): void {
  handleErrors(http, options);
  http.addHook('onRequest', async (request) => {
    const wait = options.limit.take(request.ip);
    if (wait > 0) throw new HttpError(429, 'too many requests from this address', { retryAfterSeconds: wait });
    // The header cannot be sent by a web page or a redirect: it tells a client that means us from one that was tricked.
    if (request.headers[flavorHeader.toLowerCase()] !== flavor)
      throw new HttpError(403, `missing required header: ${flavorHeader}: ${flavor}`);
  });
  http.addHook('onResponse', async (request, reply) => logAccess(request, reply, options));
  http.route({ method: allowedMethods, url: '/v1', handler: (_request, reply) => reply.redirect('/v1/', 301) });
  http.route<WildcardParams>({
    method: allowedMethods,
    url: '/v1/*',
    handler: async (request, reply) => {
      const server = await options.identity.of({
        peer: request.socket.remoteAddress ?? '',
        authorization: request.headers.authorization,
      });
      const { type, body } = await responseFor({ path: request.params['*'], server, gone: goneOf(reply) }, options);
      // A Buffer is sent as it is, with the type as it is.
      return reply.header('cache-control', 'no-store').header('content-type', type).send(Buffer.from(body));
    },
  });
  const rejectMethod = () => Promise.reject(new HttpError(405, 'Method Not Allowed'));
  for (const url of ['/v1', '/v1/*'])
    http.route({ method: rejectedMethods, url, onRequest: rejectMethod, handler: rejectMethod });
}

interface MetadataResponse {
  readonly type: 'application/json' | 'text/plain; charset=utf-8';
  readonly body: string | Buffer;
}

interface MetadataRequest {
  readonly path: string;
  readonly server: Server;
  /** Whoever asked it waits no longer. */
  readonly gone: AbortSignal;
}

function goneOf({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const abort = (): void => gone.abort(new HttpError(503, 'the client is gone'));
  // Who left while we found out who it is will not leave again.
  if (raw.destroyed) abort();
  else raw.once('close', abort);
  return gone.signal;
}

async function responseFor(
  { path, server, gone }: MetadataRequest,
  { userData, staticMetadata }: RoutesOptions,
): Promise<MetadataResponse> {
  const metadata = metadataOf(server, staticMetadata);
  if (path === '') {
    const { values } = await userData.of(server, gone);
    return json({ ...Object.fromEntries(metadata), ...(values && { 'user-data': textsOf(values) }) });
  }
  if (path === 'user-data' || path.startsWith('user-data/')) {
    const { values, reason } = await userData.of(server, gone);
    if (values === undefined) throw new HttpError(404, `no user data: ${reason}`);
    return path === 'user-data' ? json(textsOf(values)) : plain(values.get(path.slice('user-data/'.length)));
  }
  return plain(metadata.get(path));
}

const textsOf = (values: ReadonlyMap<string, Buffer>): Record<string, string> =>
  Object.fromEntries([...values].map(([key, bytes]) => [key, bytes.toString('utf8')]));

const json = (value: object): MetadataResponse => ({ type: 'application/json', body: JSON.stringify(value) });

function plain(body: string | Buffer | undefined): MetadataResponse {
  if (body === undefined) throw new HttpError(404, 'there is no such field');
  return { type: 'text/plain; charset=utf-8', body };
}

function handleErrors(http: FastifyInstance, { limit, log }: RoutesOptions): void {
  http.setErrorHandler((error, request, reply) => sendError(error, request, reply));
  http.setNotFoundHandler((request, reply) => sendError(new HttpError(404, 'nothing is served here'), request, reply));

  function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { status, message, retryAfterSeconds } = httpErrorFor(error);
    if (!(error instanceof HttpError)) log.error({ err: error, client: request.ip }, 'request failed');
    if (status !== 429 && status < 500) limit.take(request.ip, errorCost);
    if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
    if (status === 405) reply.header('allow', 'GET, HEAD');
    return reply.code(status).header('content-type', 'text/plain; charset=utf-8').send(message);
  }
}

/** What is not known to be harmless stays in the log. */
function httpErrorFor(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' && status < 500
    ? new HttpError(400, 'the request is not well-formed')
    : new HttpError(500, 'not available now; try again');
}

function logAccess(request: FastifyRequest, reply: FastifyReply, { log }: RoutesOptions): void {
  const { method, url, ip: client } = request;
  const { statusCode: status, elapsedTime } = reply;
  log.info({ client, durationMs: Math.round(elapsedTime), method, path: url.slice(0, 200), status }, 'request');
}
