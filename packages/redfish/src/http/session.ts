import * as z from 'zod';
import { pathOf } from '../endpoint.ts';
import { RedfishError } from '../errors.ts';
import type { Send } from './interceptor.ts';
import { errorFromResponse, jsonOf, type RequestContext } from './parse-response.ts';
import type { Credentials } from './password.ts';
import type { RawResponse } from './request.ts';

/** A Redfish session (DSP0266): its token authenticates requests until the session is deleted or expires. */
export interface Session {
  readonly kind: 'session';
  readonly token: string;
  /** Undefined when the BMC does not name it; such a session can only expire. */
  readonly path: string | undefined;
}

export interface SessionRequest {
  readonly origin: string;
  readonly now: () => number;
  readonly deadlineMs: number;
  readonly send: Send;
}

/** A session, or how the BMC refused it. */
type SessionResult =
  | { readonly session: Session; readonly rejection?: never }
  | { readonly session?: never; readonly rejection: RedfishError };

/** Opens a session with one POST to the Sessions collection. */
export async function openSession(
  { origin, now, deadlineMs, send }: SessionRequest,
  path: string,
  { username, password }: Credentials,
): Promise<SessionResult> {
  const body = { UserName: username, Password: password.reveal() };
  const response = await send({ method: 'POST', path, headers: {}, body, deadlineMs });
  const context = { origin, method: 'POST', path };
  const token = response.headers['x-auth-token'];
  if (response.status < 300 && typeof token === 'string')
    return { session: { kind: 'session', token, path: sessionPathOf(response, context) } };
  return { rejection: errorFromResponse(response, context, now()) };
}

/** Deletes a session, best effort: a session that cannot be deleted expires at the BMC. */
export async function closeSession(
  { deadlineMs, send }: SessionRequest,
  { path }: Session,
  token: string,
): Promise<void> {
  if (path === undefined) return;
  const headers = { 'x-auth-token': token };
  await send({ method: 'DELETE', path, headers, deadlineMs }).catch(() => undefined);
}

export function basicHeaders({ username, password }: Credentials): Record<string, string> {
  const pair = Buffer.from(`${username}:${password.reveal()}`, 'utf8').toString('base64');
  return { authorization: `Basic ${pair}` };
}

/** iLO answers 400 to a wrong password; only the message identifier names the cause. */
export const isCredentialsError = (error: RedfishError): boolean =>
  error.status === 401 || error.status === 403 || namesCredentials(error);

/**
 * Sessions may be forbidden to an account that may use Basic, or a gateway may demand Basic on every path. A response that
 * names the credentials as the cause is final: the same password would only bring the account closer to its lockout. Whether it
 * offers Basic (WWW-Authenticate) tells nothing, since DSP0266 has every service do so with 401.
 */
export const mayTakeBasic = (error: RedfishError): boolean =>
  (error.status === 401 || error.status === 403) && !namesCredentials(error);

/** iDRAC answers 401 with AccessDenied to a wrong password; with 403 it may mean sessions alone. */
function namesCredentials({ status, messageIds }: RedfishError): boolean {
  const names = /Unauthorized|InvalidCredential|AccountLocked|UserLocked|LoginFail/i;
  return messageIds.some((id) => names.test(id) || (status === 401 && /AccessDenied/i.test(id)));
}

const created = z.object({ '@odata.id': z.string() });

function sessionPathOf(response: RawResponse, context: RequestContext): string | undefined {
  const { location } = response.headers;
  if (location !== undefined) return pathOf(location);
  try {
    const body = created.safeParse(jsonOf(response, context));
    return body.success ? pathOf(body.data['@odata.id']) : undefined;
  } catch {
    // The session works without its path.
    return undefined;
  }
}
