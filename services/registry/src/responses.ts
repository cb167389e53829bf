import { KubeError } from '@metal/kube/errors.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { RateLimit } from '@metal/http/rate-limit.ts';
import { HttpError, type HttpErrorCode } from './http-error.ts';

/** What a refused request costs more than a good one: guessing runs a client dry sooner. */
const errorCost = 9;

/** Counted in metrics, not in lines; and it is no guess that is wrong. */
const overloadCodes: ReadonlySet<HttpErrorCode> = new Set(['TooManyRequests', 'Busy']);

/** Turns floods away, and everything that goes wrong into a short answer. */
export function handleErrors(
  http: Pick<FastifyInstance, 'addHook' | 'setErrorHandler' | 'setNotFoundHandler'>,
  { auth, limit, log }: { auth: 'token' | 'none'; limit: RateLimit; log: Logger },
): void {
  http.addHook('onRequest', async (request) => {
    const waitSeconds = limit.take(request.ip);
    if (waitSeconds > 0)
      throw new HttpError('TooManyRequests', 'too many requests from this address', { retryAfterSeconds: waitSeconds });
  });
  http.setErrorHandler((error, request, reply) => sendError(error, request, reply));
  http.setNotFoundHandler((request, reply) =>
    sendError(new HttpError('RouteUnknown', 'nothing is served at this address'), request, reply),
  );

  function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const httpError = httpErrorFor(error);
    if (!overloadCodes.has(httpError.code)) {
      limit.take(request.ip, errorCost);
      logError(error, httpError, request);
    }
    if (httpError.retryAfterSeconds !== undefined) reply.header('retry-after', httpError.retryAfterSeconds);
    // The rest of a refused body is not worth reading.
    if (request.method === 'POST') reply.header('connection', 'close');
    const { status, code, message } = httpError;
    // v0.7.0 answered in plain words, and its clients put them into their logs.
    if (auth === 'none') return reply.code(status).type('text/plain; charset=utf-8').send(message);
    return reply.code(status).send({ code, message });
  }

  function logError(error: unknown, { code, status, message }: HttpError, request: FastifyRequest): void {
    const fields = { code, route: request.routeOptions.url, client: request.ip, reason: message };
    if (status >= 500 || code === 'ReportInvalid') log.error({ ...fields, err: error }, 'request failed');
    else log.warn(fields, 'request refused');
  }
}

/** The answer to whatever went wrong. What is not known to be harmless stays in the log. */
function httpErrorFor(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (codeOf(error) === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new HttpError('BodyTooBig', 'the body is bigger than this registry accepts', { cause: error });
  if (error instanceof KubeError && error.code === 'Invalid')
    return new HttpError(
      'ReportInvalid',
      'the API server does not accept this report; the log of the registry says why',
      { cause: error },
    );
  if (error instanceof KubeError)
    return new HttpError('NotReady', 'the API server cannot be asked or does not accept this; try again', {
      retryAfterSeconds: 5,
      cause: error,
    });
  const status = statusOf(error);
  if (status >= 400 && status < 500)
    return new HttpError('BodyMalformed', 'the request is not well-formed', { cause: error });
  return new HttpError('Internal', 'internal error; the log of the registry has the details', { cause: error });
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
const statusOf = (error: unknown): number =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
