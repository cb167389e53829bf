import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { BmcState } from './bmc-state.ts';
import { expanded, expansionIn } from './expand.ts';
import { root } from './links.ts';
import { failure, missing, type Reply, type Resource } from './replies.ts';
import { resourceAt } from './resources.ts';
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
  const { method, path, body, headers } = request;
  const status = bmc.board.consume('status', path);
  if (status !== undefined) return simulatedFailure(status);
  if (body instanceof Error) return failure(400, 'MalformedJSON', body.message);
  if (method === 'POST' && (path === sessions || path === `${sessions}/Members`)) return logIn(bmc, request);
  const isPublic = path === root || path === '/redfish';
  if (!isPublic && !isAuthenticated(bmc, headers)) return unauthorized;
  switch (method) {
    case 'GET':
    case 'HEAD':
      return get(bmc, request);
    case 'PATCH':
      return checkPrecondition(bmc, path, headers['if-match']) ?? patch(bmc, request);
    case 'POST':
      return post(bmc, request);
    case 'DELETE':
      return remove(bmc, request);
    default:
      return failure(405, 'OperationNotAllowed', `${method} is not possible`);
  }
}

const simulatedFailure = (status: number): Reply =>
  failure(status, status === 503 ? 'ServiceTemporarilyUnavailable' : 'GeneralError', `simulated failure ${status}`);
const unauthorized = failure(401, 'NoValidSession', 'there is no valid session, and no valid user name and password');

function isAuthenticated({ access }: BmcState, headers: IncomingHttpHeaders): boolean {
  const { 'x-auth-token': token, authorization } = headers;
  if (typeof token === 'string') return access.useSession(token) !== undefined;
  return authorization !== undefined && access.authenticateBasic(authorization) !== undefined;
}

function get(bmc: BmcState, { path, query, headers }: RedfishRequest): Reply {
  const resource = resourceAt(bmc, path);
  if (resource === undefined) return missing(path);
  const expansion = expansionIn(query);
  if (expansion !== undefined && !bmc.profile.expand)
    return failure(501, 'QueryNotSupported', '$expand is not supported');
  if (expansion === 'invalid') return failure(400, 'QueryNotSupported', '$expand must be . or * or ~, and ($levels=n)');
  const etag = etagOf(resource);
  if (headers['if-none-match'] === etag) return { status: 304, headers: { etag } };
  const page = pageOf(resource, { path, query, size: bmc.profile.pageSize });
  const body = expansion === undefined ? page : expanded(page, expansion, (link) => resourceAt(bmc, link));
  return { status: 200, body: { '@odata.etag': etag, ...body }, headers: { etag } };
}

interface Page {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Undefined: all members are on one page. */
  readonly size: number | undefined;
}

function pageOf(resource: Resource, { path, query, size }: Page): Resource {
  const { Members: members } = resource;
  if (size === undefined || !Array.isArray(members)) return resource;
  const start = Number(query.get('$skip') ?? 0);
  const end = start + size;
  const page = { ...resource, Members: members.slice(start, end) };
  if (end >= members.length) return page;
  const next = new URLSearchParams([...query].filter(([name]) => name !== '$skip'));
  next.set('$skip', String(end));
  return { ...page, 'Members@odata.nextLink': `${path}?${decodeURIComponent(next.toString())}` };
}

function checkPrecondition(bmc: BmcState, path: string, ifMatch: string | undefined): Reply | undefined {
  const resource = ifMatch === undefined || ifMatch === '*' ? undefined : resourceAt(bmc, path);
  if (resource === undefined || ifMatch === etagOf(resource)) return undefined;
  return failure(412, 'PreconditionFailed', 'the resource has changed');
}

/** Changes whenever anything visible to a client changes. */
const etagOf = (resource: Resource): string => `"${hash('sha1', JSON.stringify(resource), 'hex').slice(0, 16)}"`;
