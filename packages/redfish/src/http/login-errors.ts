import { RedfishError } from '../errors.ts';
import { describeStatus } from './parse-response.ts';
import type { RedfishRequest } from './request.ts';

/** The BMC rejected user name or password, or the account may not log in. */
export function rejectedLogin({ status, messageIds }: RedfishError, origin: string, username: string): RedfishError {
  const detail = [status, messageIds[0], status === 403 ? 'no right to log in' : undefined];
  return new RedfishError({
    code: 'AuthenticationFailed',
    message: `${origin} rejected user "${username}" (${detail.filter((part) => part !== undefined).join(', ')})`,
    status,
    messageIds,
  });
}

/** The login works, so the credentials are right. */
export function forbiddenInSession({ method, path }: RedfishRequest, origin: string, username: string): RedfishError {
  return new RedfishError({
    code: 'Forbidden',
    message: `${describeStatus({ origin, method, path }, 401)} in a fresh session of user "${username}"; give the account more rights`,
    status: 401,
  });
}
