import { KubeError } from '@metal/kube/errors.ts';
import { Refusal } from './refusal.ts';

/** The answer to whatever went wrong. What is not known to be harmless stays in the log. */
export function answerTo(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (codeOf(error) === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new Refusal('BodyTooBig', 'the body is bigger than this registry accepts', { cause: error });
  if (error instanceof KubeError && error.code === 'Invalid')
    return new Refusal(
      'ReportInvalid',
      'the API server does not accept this report; the log of the registry says why',
      { cause: error },
    );
  if (error instanceof KubeError)
    return new Refusal('NotReady', 'the API server cannot be asked or does not accept this; try again', {
      retryAfterSeconds: 5,
      cause: error,
    });
  const status = statusOf(error);
  if (status >= 400 && status < 500)
    return new Refusal('BodyMalformed', 'the request is not well-formed', { cause: error });
  return new Refusal('Internal', 'internal error; the log of the registry has the details', { cause: error });
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
const statusOf = (error: unknown): number =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
