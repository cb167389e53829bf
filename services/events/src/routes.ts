import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { isEventToken } from '@metal/api/wire/event-token.ts';
import type { RateLimit } from '@metal/http/rate-limit.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { EventMetrics } from './event-metrics.ts';
import { alertsIn, readingsIn } from './payload.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { HttpError } from './http-error.ts';

export interface RoutesOptions {
  auth: 'token' | 'none';
  bmcs: Cache<BMC>;
  eventTokenKey: () => Promise<Uint8Array>;
  metrics: EventMetrics;
  /** The BMC says that power or state of something changed there. */
  onEvent: (bmcName: string) => void;
  limit: RateLimit;
  log: Logger;
}

type Destination = { Params: { '*': string } };

const rejectedMethods: ('GET' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS')[] = [
  'GET',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
];
/** What a refused request costs more than a good one: guessing runs a client dry sooner. */
const errorCost = 9;
/** Something to compare with where there is no BMC, so that the answer takes as long. */
const placeholderUid = '00000000-0000-0000-0000-000000000000';

/**
 *   POST /serverevents/alerts/<token>/<bmc>          a Redfish Event
 *   POST /serverevents/metricsreport/<token>/<bmc>   a Redfish MetricReport
 *
 * Without tokens the name of the BMC is the last segment, as in v0.7.0. Who is speaking is judged before the body is read.
 */
export function receiveEvents(http: FastifyInstance, options: RoutesOptions): void {
  const { metrics, onEvent, limit, log } = options;
  handleErrors(http, options);
  http.removeAllContentTypeParsers();
  http.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  http.addHook('onRequest', async (request) => {
    const wait = limit.take(request.ip);
    if (wait > 0) throw new HttpError(429, 'too many requests from this address', { retryAfterSeconds: wait });
  });

  const receive = (url: string, take: (bmc: string, bytes: Uint8Array) => void): void => {
    const onRequest = async ({ params }: FastifyRequest<Destination>) =>
      void (await authenticateBmc(params['*'], options));
    http.post<Destination>(url, { onRequest }, async (request, reply) => {
      take(await authenticateBmc(request.params['*'], options), bytesOf(request));
      return reply.code(200).send();
    });
    const rejectMethod = () => Promise.reject(new HttpError(405, 'Only POST method is allowed'));
    http.route({ method: rejectedMethods, url, onRequest: rejectMethod, handler: rejectMethod });
  };

  receive('/serverevents/alerts/*', (bmc, bytes) => {
    const alerts = alertsIn(bytes);
    log.debug({ bmc, alerts }, 'events received');
    metrics.count(bmc, alerts);
    if (alerts.some(({ aboutState }) => aboutState)) onEvent(bmc);
  });
  receive('/serverevents/metricsreport/*', (bmc, bytes) => {
    const readings = readingsIn(bytes);
    const surplus = metrics.take(bmc, readings);
    log.debug({ bmc, readings: readings.length, surplus }, 'metric report received');
  });
}

/** Name of the BMC that may speak at this address. With tokens nobody learns which BMCs there are. */
async function authenticateBmc(path: string, { auth, bmcs, eventTokenKey }: RoutesOptions): Promise<string> {
  const segments = path.split('/');
  const name = segments.at(-1) ?? '';
  const bmc = bmcs.get(name);
  if (auth === 'none') {
    if (bmc !== undefined) return name;
    throw new HttpError(404, 'there is no BMC of that name');
  }
  const [token = ''] = segments;
  const isRight = isEventToken(await eventTokenKey(), bmc?.metadata.uid ?? placeholderUid, token);
  if (isRight && bmc !== undefined && segments.length === 2) return name;
  throw new HttpError(403, 'this address admits nobody; subscribe with the address that the operator gives');
}

/** A request without a body has none to hand over. */
const bytesOf = ({ body }: FastifyRequest<Destination>): Uint8Array =>
  Buffer.isBuffer(body) ? body : new Uint8Array();

function handleErrors(http: FastifyInstance, { limit, log }: RoutesOptions): void {
  http.setErrorHandler((error, request, reply) => sendError(error, request, reply));
  http.setNotFoundHandler((request, reply) => sendError(new HttpError(404, 'nothing is served here'), request, reply));

  function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { status, message, retryAfterSeconds } = httpErrorFor(error);
    // The address is left out: it may hold a token.
    const fields = { status, route: request.routeOptions.url, client: request.ip, reason: message };
    if (status === 503) log.error({ ...fields, err: error }, 'request failed');
    else if (status !== 429) log.warn(fields, 'request refused');
    if (status !== 429 && status !== 503) limit.take(request.ip, errorCost);
    if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
    if (status === 405) reply.header('allow', 'POST');
    // The rest of a refused body is not worth reading.
    if (request.method === 'POST') reply.header('connection', 'close');
    return reply.code(status).type('text/plain; charset=utf-8').send(message);
  }
}

/** What is not known to be harmless stays in the log. */
function httpErrorFor(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  if (status === 413) return new HttpError(413, 'the body is bigger than 1 MiB');
  if (typeof status === 'number' && status < 500) return new HttpError(400, 'the request is not well-formed');
  return new HttpError(503, 'not available now; try again', { retryAfterSeconds: 5, cause: error });
}
