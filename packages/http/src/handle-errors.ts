import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { plainAddress } from './client-of.ts';
import type { HttpError } from './http-error.ts';

/** A request that ended in an error. */
export interface Rejection<E extends HttpError = HttpError> {
  /** As it was thrown. */
  readonly error: unknown;
  /** As the client receives it. */
  readonly httpError: E;
  readonly request: FastifyRequest;
}

export interface ErrorHandling<E extends HttpError> {
  /** Text that is not known to be harmless stays in the log. */
  readonly httpErrorFor: (error: unknown) => E;
  readonly unknownRoute: () => E;
  /** Logs the rejection, and charges the client for it. */
  readonly onRejection: (rejection: Rejection<E>) => void;
  /** Text or JSON; the message by default. */
  readonly bodyOf?: (httpError: E) => string | object;
  /** The `Allow` header of a 405. */
  readonly allowedMethods?: string;
  /** Closes the connection after a rejected POST, whose body is then not read to its end. */
  readonly closesRejectedPosts?: boolean;
}

/** Turns each error into a short response. */
export function handleErrors<E extends HttpError>(
  http: Pick<FastifyInstance, 'setErrorHandler' | 'setNotFoundHandler'>,
  options: ErrorHandling<E>,
): void {
  const { httpErrorFor, unknownRoute, onRejection, allowedMethods, closesRejectedPosts = false } = options;
  const { bodyOf = ({ message }) => message } = options;
  http.setErrorHandler((error, request, reply) => sendError(error, request, reply));
  http.setNotFoundHandler((request, reply) => sendError(unknownRoute(), request, reply));

  function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const httpError = httpErrorFor(error);
    const { status, retryAfterSeconds } = httpError;
    onRejection({ error, httpError, request });
    if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
    if (status === 405 && allowedMethods !== undefined) reply.header('allow', allowedMethods);
    if (closesRejectedPosts && request.method === 'POST') reply.header('connection', 'close');
    const body = bodyOf(httpError);
    if (typeof body === 'string') reply.type('text/plain; charset=utf-8');
    return reply.code(status).send(body);
  }
}

export interface RejectionLog {
  readonly log: {
    warn(fields: object, text: string): void;
    error(fields: object, text: string): void;
  };
  /** By default every status from 500. */
  readonly isFailure?: boolean;
  readonly code?: string;
}

/** Writes one line per rejection. The URL is left out: it may contain a token. */
export function logRejection({ error, httpError, request }: Rejection, options: RejectionLog): void {
  const { log, isFailure = httpError.status >= 500, code } = options;
  const { status, message: reason } = httpError;
  const route = request.routeOptions.url;
  const fields = { status, ...(code === undefined ? {} : { code }), route, client: plainAddress(request.ip), reason };
  if (isFailure) log.error({ ...fields, err: error }, 'request failed');
  else log.warn(fields, 'request refused');
}

/** The status that fastify gives an error, if it gives one. */
export const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : undefined;
