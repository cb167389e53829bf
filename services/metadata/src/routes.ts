import { metadataFlavorHeader } from '@metal/api/wire/contract.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { handleErrors, type Rejection, statusOf } from '@metal/http/handle-errors.ts';
import { HttpError } from '@metal/http/http-error.ts';
import { limitRequests } from '@metal/http/limit-requests.ts';
import type { RateLimit } from '@metal/http/rate-limit.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Identity } from './identity.ts';
import { metadataOf } from './metadata-map.ts';
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

/**
 *   GET /v1/                  all fields, as JSON
 *   GET /v1/<field>           one field, as text; a field may contain slashes
 *   GET /v1/user-data         the user data of the claim, as JSON
 *   GET /v1/user-data/<key>   one value, byte for byte
 *
 * Checked in this order: rate limit, header, route, machine.
 */
export function serveMetadata(http: FastifyInstance, options: RoutesOptions): void {
  handleMetadataErrors(http, options);
  const tooManyRequests = (retryAfterSeconds: number) =>
    new HttpError(429, 'too many requests from this address', { retryAfterSeconds });
  limitRequests(http, { limit: options.limit, tooManyRequests });
  // A web page or a redirect cannot set this header: it protects against server-side request forgery.
  http.addHook('onRequest', async (request) => {
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
      // Fastify sends a Buffer unchanged and adds no charset to its type.
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
  /** Aborted when the client closes the connection. */
  readonly gone: AbortSignal;
}

function goneOf({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const abort = (): void => gone.abort(new HttpError(503, 'the client is gone'));
  // A connection that closed during the identification emits no further close event.
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

function handleMetadataErrors(http: FastifyInstance, { limit, log }: RoutesOptions): void {
  const onRejection = ({ error, httpError: { status }, request }: Rejection): void => {
    if (!(error instanceof HttpError)) log.error({ err: error, client: request.ip }, 'request failed');
    if (status !== 429 && status < 500) limit.chargeRejection(request.ip);
  };
  handleErrors(http, {
    httpErrorFor,
    unknownRoute: () => new HttpError(404, 'nothing is served here'),
    onRejection,
    allowedMethods: 'GET, HEAD',
  });
}

/** Text that is not known to be harmless stays in the log. */
function httpErrorFor(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  const status = statusOf(error);
  return status !== undefined && status < 500
    ? new HttpError(400, 'the request is not well-formed')
    : new HttpError(500, 'not available now; try again');
}

function logAccess(request: FastifyRequest, reply: FastifyReply, { log }: RoutesOptions): void {
  const { method, url, ip: client } = request;
  const { statusCode: status, elapsedTime } = reply;
  log.info({ client, durationMs: Math.round(elapsedTime), method, path: url.slice(0, 200), status }, 'request');
}
