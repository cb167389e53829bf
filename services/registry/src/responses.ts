import { handleErrors, logRejection, type Rejection, statusOf } from '@metal/http/handle-errors.ts';
import { limitRequests } from '@metal/http/limit-requests.ts';
import type { RateLimit } from '@metal/http/rate-limit.ts';
import { KubeError } from '@metal/kube/errors.ts';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { RegistryError, type RegistryErrorCode } from './registry-error.ts';

/** Counted in metrics and not logged. They are no wrong guess, so the client is not charged. */
const overloadCodes: ReadonlySet<RegistryErrorCode> = new Set(['TooManyRequests', 'Busy']);

/** Limits the request rate of each client, and turns each error into a short response. */
export function limitAndHandleErrors(
  http: Pick<FastifyInstance, 'addHook' | 'setErrorHandler' | 'setNotFoundHandler'>,
  { auth, limit, log }: { auth: 'token' | 'none'; limit: RateLimit; log: Logger },
): void {
  const tooManyRequests = (retryAfterSeconds: number) =>
    new RegistryError('TooManyRequests', 'too many requests from this address', { retryAfterSeconds });
  limitRequests(http, { limit, tooManyRequests });

  const onRejection = (rejection: Rejection<RegistryError>): void => {
    const { code, status } = rejection.httpError;
    if (overloadCodes.has(code)) return;
    limit.chargeRejection(rejection.request.ip);
    logRejection(rejection, { log, code, isFailure: status >= 500 || code === 'ReportInvalid' });
  };
  handleErrors(http, {
    httpErrorFor: registryErrorFor,
    unknownRoute: () => new RegistryError('RouteUnknown', 'nothing is served at this address'),
    onRejection,
    // v0.7.0 responded with plain text, which its clients log.
    bodyOf: ({ code, message }) => (auth === 'none' ? message : { code, message }),
    closesRejectedPosts: true,
  });
}

/** Text that is not known to be harmless stays in the log. */
function registryErrorFor(error: unknown): RegistryError {
  if (error instanceof RegistryError) return error;
  if (error instanceof Error && 'code' in error && error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new RegistryError('BodyTooBig', 'the body is bigger than this registry accepts', { cause: error });
  if (error instanceof KubeError && error.code === 'Invalid')
    return new RegistryError(
      'ReportInvalid',
      'the API server does not accept this report; the log of the registry says why',
      { cause: error },
    );
  if (error instanceof KubeError)
    return new RegistryError('NotReady', 'the API server cannot be asked or does not accept this; try again', {
      retryAfterSeconds: 5,
      cause: error,
    });
  const status = statusOf(error) ?? 500;
  if (status >= 400 && status < 500)
    return new RegistryError('BodyMalformed', 'the request is not well-formed', { cause: error });
  return new RegistryError('Internal', 'internal error; the log of the registry has the details', { cause: error });
}
