import { RedfishError } from '../errors.ts';
import { describeStatus } from './parse-response.ts';
import type { RedfishRequest } from './request.ts';

/** The BMC rejected user name or password, or the account may not log in. */
export function rejectedLogin({ status, messageIds }: RedfishError, origin: string, username: string): RedfishError {
  const remedy = status === 403 ? ', or give the user the right to log in' : '';
  return new RedfishError({
    code: 'AuthenticationFailed',
    message: `${origin} rejected user "${username}" with ${status}${messageIds.length > 0 ? ` (${messageIds.join(', ')})` : ''}; correct the credentials${remedy}. User and password are not sent again until they change, so that the account is not locked`,
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
