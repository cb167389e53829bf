import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { isEventToken } from '@metal/api/wire/event-token.ts';
import { handleErrors, logRejection, type Rejection, statusOf } from '@metal/http/handle-errors.ts';
import { HttpError } from '@metal/http/http-error.ts';
import { limitRequests } from '@metal/http/limit-requests.ts';
import type { RateLimit } from '@metal/http/rate-limit.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { EventMetrics } from './event-metrics.ts';
import { alertsIn, readingsIn } from './payload.ts';
import type { Cache } from '@metal/kube/cache/store.ts';

export interface RoutesOptions {
  auth: 'token' | 'none';
  bmcs: Cache<BMC>;
  eventTokenKey: () => Promise<Uint8Array>;
  metrics: EventMetrics;
  /** The BMC reported a change of power or state. */
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
/** Compared with the token of an unknown BMC, so that the response takes the same time. */
const placeholderUid = '00000000-0000-0000-0000-000000000000';

/**
 *   POST /serverevents/alerts/<token>/<bmc>          a Redfish Event
 *   POST /serverevents/metricsreport/<token>/<bmc>   a Redfish MetricReport
 *
 * Without tokens the name of the BMC is the last segment, as in v0.7.0. The BMC is authenticated before the body is read.
 */
export function receiveEvents(http: FastifyInstance, options: RoutesOptions): void {
  const { metrics, onEvent, limit, log } = options;
  handleEventErrors(http, options);
  http.removeAllContentTypeParsers();
  http.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  const tooManyRequests = (retryAfterSeconds: number) =>
    new HttpError(429, 'too many requests from this address', { retryAfterSeconds });
  limitRequests(http, { limit, tooManyRequests });

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

/** The name of the BMC that this path belongs to. With tokens, an unknown BMC and a wrong token get the same response. */
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

/** A request without a body has an empty one. */
const bytesOf = ({ body }: FastifyRequest<Destination>): Uint8Array =>
  Buffer.isBuffer(body) ? body : new Uint8Array();

function handleEventErrors(http: FastifyInstance, { limit, log }: RoutesOptions): void {
  const onRejection = (rejection: Rejection): void => {
    const { status } = rejection.httpError;
    if (status === 429) return;
    logRejection(rejection, { log });
    if (status !== 503) limit.chargeRejection(rejection.request.ip);
  };
  handleErrors(http, {
    httpErrorFor,
    unknownRoute: () => new HttpError(404, 'nothing is served here'),
    onRejection,
    allowedMethods: 'POST',
    closesRejectedPosts: true,
  });
}

/** Text that is not known to be harmless stays in the log. */
function httpErrorFor(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  const status = statusOf(error);
  if (status === 413) return new HttpError(413, 'the body is bigger than 1 MiB');
  if (status !== undefined && status < 500) return new HttpError(400, 'the request is not well-formed');
  return new HttpError(503, 'not available now; try again', { retryAfterSeconds: 5, cause: error });
}
