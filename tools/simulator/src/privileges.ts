import type { Access, Account } from './access.ts';
import { root } from './links.ts';

/** Privileges of Redfish (DSP0266, privilege model). */
export type Privilege = 'Login' | 'ConfigureManager' | 'ConfigureUsers' | 'ConfigureComponents' | 'ConfigureSelf';

/** Privileges of the standard roles (DSP0266). */
export const rolePrivileges: ReadonlyMap<string, readonly Privilege[]> = new Map<string, readonly Privilege[]>([
  ['Administrator', ['Login', 'ConfigureManager', 'ConfigureUsers', 'ConfigureComponents', 'ConfigureSelf']],
  ['Operator', ['Login', 'ConfigureComponents', 'ConfigureSelf']],
  ['ReadOnly', ['Login', 'ConfigureSelf']],
]);

/** A request of a known account. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  /** Parsed JSON; undefined for an empty body. */
  readonly body: unknown;
  readonly account: Account;
  readonly access: Access;
}

/** Whether the role of the account allows the operation, by DMTF's base privilege registry. */
export function isPermitted(operation: Operation): boolean {
  const held = rolePrivileges.get(operation.account.role) ?? [];
  return held.includes('Login') && requiredFor(operation).some((privilege) => held.includes(privilege));
}

/** One of these privileges is enough. */
function requiredFor({ method, path, body, account, access }: Operation): readonly Privilege[] {
  const [area, kind, id] = path.slice(root.length + 1).split('/');
  const isRead = method === 'GET' || method === 'HEAD';
  if (kind === 'Accounts' && id !== undefined) {
    const isOwn = id === account.id && (isRead || (method === 'PATCH' && changesOnlyPassword(body)));
    return isOwn
      ? ['ConfigureUsers', 'ConfigureSelf']
      : isRead
        ? ['ConfigureManager', 'ConfigureUsers']
        : ['ConfigureUsers'];
  }
  if (isRead) return ['Login'];
  if (kind === 'Accounts') return ['ConfigureUsers'];
  if (kind === 'Sessions') {
    const isOwn = access.sessions.some((session) => session.id === id && session.username === account.username);
    return isOwn ? ['ConfigureManager', 'ConfigureSelf'] : ['ConfigureManager'];
  }
  if (kind === 'Subscriptions') return ['ConfigureManager', 'ConfigureComponents'];
  return area === 'Systems' || area === 'UpdateService' ? ['ConfigureComponents'] : ['ConfigureManager'];
}

const changesOnlyPassword = (body: unknown): boolean =>
  typeof body === 'object' &&
  body !== null &&
  Object.keys(body).every((name) => name === 'Password' || name.startsWith('@odata.'));
