import type { Account } from './access.ts';
import type { BmcState } from './bmc-state.ts';
import { at, collection, root } from './links.ts';
import { rolePrivileges } from './privileges.ts';
import { done, failure, member, missing, type Reply, type Resource } from './replies.ts';

export const accountsPath = `${root}/AccountService/Accounts`;
const roles: readonly string[] = [...rolePrivileges.keys()];

/** The account service and its subresources; undefined means 404. */
export function accountService(
  bmc: BmcState,
  path: string,
  kind: string | undefined,
  rest: readonly string[],
): Resource | undefined {
  const [id] = rest;
  if (rest.length > 1) return undefined;
  if (kind === undefined) return serviceResource(bmc, path);
  if (kind === 'Roles') return id === undefined ? collection(path, roles, 'Role') : roleResource(path, id);
  if (kind !== 'Accounts') return undefined;
  const { accounts } = bmc.access;
  if (id === undefined)
    return collection(
      path,
      accounts.map((account) => account.id),
      'ManagerAccount',
    );
  const account = accounts.find((candidate) => candidate.id === id);
  return account && accountResource(bmc, account);
}

function serviceResource({ profile }: BmcState, path: string): Resource {
  const { minPasswordLength, maxPasswordLength, lockAfterFailures, lockForMs } = profile;
  return {
    '@odata.id': path,
    '@odata.type': '#AccountService.v1_15_0.AccountService',
    Id: 'AccountService',
    Name: 'Account Service',
    ServiceEnabled: true,
    HTTPBasicAuth: 'Enabled',
    ...(minPasswordLength === undefined ? {} : { MinPasswordLength: minPasswordLength }),
    ...(maxPasswordLength === undefined ? {} : { MaxPasswordLength: maxPasswordLength }),
    AccountLockoutThreshold: lockAfterFailures,
    AccountLockoutDuration: Math.round(lockForMs / 1_000),
    Accounts: at(`${path}/Accounts`),
    Roles: at(`${path}/Roles`),
  };
}

const accountResource = ({ access }: BmcState, account: Account): Resource => ({
  '@odata.id': `${accountsPath}/${account.id}`,
  '@odata.type': '#ManagerAccount.v1_12_0.ManagerAccount',
  Id: account.id,
  Name: 'User Account',
  UserName: account.username,
  Password: null,
  AccountTypes: ['Redfish'],
  RoleId: account.role,
  Enabled: account.enabled,
  Locked: access.isLocked,
  ...(account.passwordExpiration === undefined ? {} : { PasswordExpiration: account.passwordExpiration }),
});

function roleResource(path: string, id: string): Resource | undefined {
  const privileges = rolePrivileges.get(id);
  if (privileges === undefined) return undefined;
  return {
    '@odata.id': path,
    '@odata.type': '#Role.v1_3_3.Role',
    Id: id,
    RoleId: id,
    Name: 'Role',
    IsPredefined: true,
    AssignedPrivileges: privileges,
  };
}

/** Creates an account, on a BMC without fixed slots. */
export function createAccount(bmc: BmcState, body: unknown): Reply {
  const { access } = bmc;
  const username = member(body, 'UserName');
  const password = member(body, 'Password');
  const role = member(body, 'RoleId') ?? 'ReadOnly';
  const error = validationError(bmc, { username, password, role });
  if (error !== undefined) return error;
  if (typeof username !== 'string' || username === '' || typeof password !== 'string' || typeof role !== 'string')
    return failure(400, 'PropertyMissing', 'UserName and Password are needed');
  const id = String(Math.max(...access.accounts.map((account) => Number(account.id))) + 1);
  const enabled = member(body, 'Enabled') !== false;
  const stored = storedPassword(bmc, password);
  const account = { id, username, password: stored, role, enabled, passwordExpiration: undefined };
  access.accounts.push(account);
  access.changed();
  const path = `${accountsPath}/${id}`;
  return { status: 201, body: accountResource(bmc, account), headers: { location: path } };
}

/** Changes all properties or none. A changed password no longer expires. */
export function patchAccount(bmc: BmcState, id: string, body: Record<string, unknown>): Reply {
  const { access, profile } = bmc;
  const account = access.accounts.find((candidate) => candidate.id === id);
  if (account === undefined) return missing(id);
  const { UserName: username, Password: password, RoleId: role, Enabled: enabled } = body;
  const error = unknownProperty(body) ?? validationError(bmc, { username, password, role, account });
  if (error !== undefined) return error;
  if (role !== undefined && password === undefined && profile.roleNeedsPassword)
    return failure(400, 'PropertyMissing', 'a role is changed together with the password');
  const isSlotTaken = typeof username === 'string' && username !== '' && account.username === '';
  if (isSlotTaken && password === undefined) return failure(400, 'PropertyMissing', 'a new account needs a Password');
  const before = account.username;
  if (typeof username === 'string') account.username = username;
  if (typeof role === 'string') account.role = role;
  if (typeof enabled === 'boolean') account.enabled = enabled;
  if (typeof password === 'string') {
    account.password = storedPassword(bmc, password);
    account.passwordExpiration = undefined;
    if (profile.passwordChangeEndsSessions) access.dropSessions(before);
  }
  if (!account.enabled || account.username !== before) access.dropSessions(before);
  access.changed();
  return done(profile.changedStatus);
}

/** Deletes an account that `methodsAt` lets be deleted. */
export function removeAccount({ access }: BmcState, id: string): Reply {
  const index = access.accounts.findIndex((account) => account.id === id);
  const account = access.accounts[index];
  if (account === undefined) return missing(`${accountsPath}/${id}`);
  access.accounts.splice(index, 1);
  access.dropSessions(account.username);
  access.changed();
  return { status: 204 };
}

const writable = new Set(['UserName', 'Password', 'RoleId', 'Enabled']);
const readOnly = new Set(['Id', 'Name', 'AccountTypes', 'Locked', 'PasswordExpiration']);

function unknownProperty(body: Record<string, unknown>): Reply | undefined {
  const name = Object.keys(body).find((key) => !writable.has(key));
  if (name === undefined) return undefined;
  return readOnly.has(name)
    ? failure(400, 'PropertyNotWritable', `${name} cannot be changed`)
    : failure(400, 'PropertyUnknown', `${name} is not a property of an account`);
}

const storedPassword = ({ board }: BmcState, password: string): string =>
  board.consume('manglesPasswords', '') ? password.slice(0, -1) : password;

interface AccountChange {
  readonly username: unknown;
  readonly password: unknown;
  readonly role: unknown;
  readonly account?: Account;
}

/** The error for a change that this BMC rejects. It repeats the rejected password, as real BMCs do. */
function validationError(
  { access, profile }: BmcState,
  { username, password, role, account }: AccountChange,
): Reply | undefined {
  if (role !== undefined && (typeof role !== 'string' || !roles.includes(role)))
    return failure(400, 'PropertyValueNotInList', `RoleId cannot be ${JSON.stringify(role)}`);
  const { minPasswordLength: min = 1, maxPasswordLength: max = 64 } = profile;
  const isPassword = typeof password === 'string' && password.length >= min && password.length <= max;
  if (password !== undefined && !isPassword)
    return failure(
      400,
      'PropertyValueTypeError',
      `Password must have ${min} to ${max} characters, ${JSON.stringify(password)} has not`,
    );
  const isTaken =
    typeof username === 'string' &&
    username !== '' &&
    access.accounts.some((other) => other !== account && other.username === username);
  return isTaken ? failure(400, 'ResourceAlreadyExists', `an account ${username} exists already`) : undefined;
}
