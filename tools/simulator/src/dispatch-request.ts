import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Account } from './access.ts';
import { settingsPrecondition } from './attributes/attribute-writes.ts';
import type { BmcState } from './bmc-state.ts';
import { documentAt, isPublic } from './documents.ts';
import { expanded } from './expand.ts';
import { root } from './links.ts';
import { methodsAt } from './methods.ts';
import { isPermitted } from './privileges.ts';
import { pageOf, selected, type View, viewIn, wholeResource } from './query.ts';
import { failure, missing, rejectedLogin, type Reply, type Resource } from './replies.ts';
import { resourceAt } from './resources.ts';
import { monitorReply } from './update-tasks.ts';
import { logIn, patch, post, remove } from './writes.ts';

/** A request with its complete body. */
export interface RedfishRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON; undefined for an empty body, an error for one that is no JSON. */
  readonly body: unknown;
  readonly client: string;
}

const sessions = `${root}/SessionService/Sessions`;

/** The response of the BMC to a request. Changes the BMC and its machines when the request does. */
export function dispatchRequest(bmc: BmcState, request: RedfishRequest): Reply | Promise<Reply> {
  const { method, body, headers } = request;
  const status = bmc.board.consume('status', request.path);
  if (status !== undefined) return simulatedFailure(status);
  // DSP0266: a POST to the property Members is one to its collection.
  const path = method === 'POST' ? request.path.replace(/\/Members$/, '') : request.path;
  const isRead = method === 'GET' || method === 'HEAD';
  const isLogin = method === 'POST' && path === sessions;
  const isOpen = isLogin || (isRead && isPublic(path));
  const account = isOpen ? undefined : accountOf(bmc, headers);
  if (account === undefined && !isOpen) return unauthorized;
  if (headers['odata-version'] !== undefined && headers['odata-version'] !== '4.0')
    return failure(412, 'PreconditionFailed', 'the service supports OData-Version 4.0');
  if (body instanceof Error) return failure(400, 'MalformedJSON', body.message);
  if (account !== undefined && !isPermitted({ method, path, body, account, access: bmc.access }))
    return failure(403, 'InsufficientPrivilege', `the role ${account.role} does not allow this`);
  if (isLogin) return logIn(bmc, request);
  return isRead ? read(bmc, request) : write(bmc, { ...request, path });
}

const simulatedFailure = (status: number): Reply =>
  failure(status, status === 503 ? 'ServiceTemporarilyUnavailable' : 'GeneralError', `simulated failure ${status}`);
const unauthorized = rejectedLogin('NoValidSession', 'there is no valid session, and no valid user name and password');

function accountOf({ access }: BmcState, headers: IncomingHttpHeaders): Account | undefined {
  const { 'x-auth-token': token, authorization } = headers;
  if (typeof token === 'string') return access.useSession(token);
  return authorization === undefined ? undefined : access.authenticateBasic(authorization);
}

function read(bmc: BmcState, request: RedfishRequest): Reply {
  const { path } = request;
  if (bmc.profile.shape?.failing?.includes(path)) return failure(500, 'GeneralError', `${path} cannot be read`);
  const headers = { allow: methodsAt(bmc, path).join(', '), 'cache-control': 'no-cache' };
  const document = documentAt(bmc, path);
  if (document !== undefined) return { ...document, headers: { ...headers, ...document.headers } };
  const monitor = monitorReply(bmc, path);
  if (monitor !== undefined) return monitor;
  const resource = resourceAt(bmc, path);
  if (resource === undefined) return missing(path);
  const reply = readResource(bmc, resource, request);
  return reply.status >= 400 ? reply : { ...reply, headers: { ...headers, ...reply.headers } };
}

function readResource(bmc: BmcState, whole: Resource, { path, query, headers }: RedfishRequest): Reply {
  const view = query.size === 0 ? wholeResource : viewIn(query, whole, bmc.profile);
  if ('status' in view) return view;
  const resource = view.only ? (onlyMemberOf(bmc, whole) ?? whole) : whole;
  const text = JSON.stringify(resource);
  const etag = etagOf(text);
  if (headers['if-none-match'] === etag) return { status: 304, headers: { etag } };
  const shown = viewed(bmc, resource, { path, query, view });
  const shownText = shown === resource ? text : JSON.stringify(shown);
  return {
    status: 200,
    text: `{"@odata.etag":${JSON.stringify(etag)},${shownText.slice(1)}`,
    headers: { etag, link: schemaLink(resource) },
  };
}

/** The link to the JSON schema, with the version of `@odata.type`. */
function schemaLink({ '@odata.type': type }: Resource): string {
  const name = String(type)
    .slice(1)
    .replace(/\.[^.]+$/, '');
  return `<https://redfish.dmtf.org/schemas/v1/${name}.json>; rel=describedby`;
}

function onlyMemberOf(bmc: BmcState, { Members: members }: Resource): Resource | undefined {
  const [member, ...others] = Array.isArray(members) ? members : [];
  return member === undefined || others.length > 0 ? undefined : resourceAt(bmc, member['@odata.id']);
}

interface Requested {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly view: View;
}

function viewed(bmc: BmcState, resource: Resource, { path, query, view }: Requested): Resource {
  const page = pageOf(resource, path, query, view, bmc.profile.pageSize);
  const { expansion, select } = view;
  const full = expansion === undefined ? page : expanded(page, expansion, (link) => resourceAt(bmc, link));
  return select === undefined ? full : selected(full, select);
}

function write(bmc: BmcState, request: RedfishRequest): Reply | Promise<Reply> {
  const { method, path, headers } = request;
  const resource = resourceAt(bmc, path);
  // An action is no resource: only `post` knows its path.
  if (resource === undefined && documentAt(bmc, path) === undefined)
    return method === 'POST' ? post(bmc, request) : missing(path);
  const methods = methodsAt(bmc, path);
  if (!methods.includes(method))
    return {
      ...failure(405, 'OperationNotAllowed', `${method} is not possible`),
      headers: { allow: methods.join(', ') },
    };
  switch (method) {
    case 'PATCH':
      return (
        settingsPrecondition(bmc, path, headers['if-match']) ??
        checkPrecondition(resource, headers['if-match']) ??
        patch(bmc, request)
      );
    case 'DELETE':
      return remove(bmc, request);
    default:
      return post(bmc, request);
  }
}

function checkPrecondition(resource: Resource | undefined, ifMatch: string | undefined): Reply | undefined {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch === etagOf(JSON.stringify(resource))) return undefined;
  return failure(412, 'PreconditionFailed', 'the resource has changed');
}

/** Changes whenever anything visible to a client changes. */
const etagOf = (text: string): string => `"${hash('sha1', text, 'hex').slice(0, 16)}"`;
