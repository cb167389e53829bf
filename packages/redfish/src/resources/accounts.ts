import type * as z from 'zod';
import type { Bmc, CallOptions, WriteOptions } from '../http/bmc.ts';
import { readMembers } from './collections.ts';
import { RedfishError } from '../errors.ts';
import type { Password } from '../http/password.ts';
import type { PasswordBounds } from './password-rules.ts';
import { account as accountSchema, accountService } from '../schemas.ts';

/** The AccountService of a BMC. */
export interface AccountService {
  readonly accountsUri: string;
  readonly passwords: PasswordBounds;
  /** Wrong passwords that lock an account; undefined or 0 when the BMC reports no number. */
  readonly lockoutThreshold: number | undefined;
}

export interface Account {
  readonly uri: string;
  readonly id: string;
  /** Undefined for an empty slot. */
  readonly userName: string | undefined;
  readonly roleId: string | undefined;
  readonly enabled: boolean;
  readonly locked: boolean;
  /** RFC 3339; undefined when the BMC reports none, or an unreadable one. */
  readonly passwordExpiration: string | undefined;
}

export interface DesiredAccount {
  readonly userName: string;
  readonly roleId: string;
  readonly password: Password;
}

/** iDRAC reserves the first slot. */
const reservedSlot = '1';

/** @throws RedfishError NotSupported when the service root names none. */
export async function readAccountService(bmc: Bmc, options: CallOptions = {}): Promise<AccountService> {
  const uri = await serviceUri(bmc, options);
  const service = await bmc.get(uri, accountService, options);
  return {
    accountsUri: service.Accounts ?? `${uri}/Accounts`,
    passwords: { minLength: service.MinPasswordLength, maxLength: service.MaxPasswordLength },
    lockoutThreshold: service.AccountLockoutThreshold,
  };
}

/** All accounts, including the empty slots of BMCs with fixed slots. */
export async function readAccounts(
  bmc: Bmc,
  { accountsUri }: Pick<AccountService, 'accountsUri'>,
  options: CallOptions = {},
): Promise<Account[]> {
  return (await readMembers(bmc, accountsUri, accountSchema, options)).map(toAccount);
}

/**
 * Sets role and password of an account, and creates it when it is missing: role, password and `Enabled` are in one request,
 * because some BMCs reject a role without a password. BMCs with fixed slots reject a POST (405); there the first empty slot
 * is filled. Callers serialise these calls per BMC, so that two accounts never take one slot.
 * @throws RedfishError NotSupported when every slot is taken; no error carries the password.
 */
export async function putAccount(bmc: Bmc, desired: DesiredAccount, options: CallOptions = {}): Promise<void> {
  const service = await readAccountService(bmc, options);
  const accounts = await readAccounts(bmc, service, options);
  const existing = accounts.find(({ userName }) => userName === desired.userName);
  await withoutPassword(desired.password, () =>
    existing === undefined
      ? createAccount(bmc, { desired, service, accounts }, options)
      : change(bmc, existing, desired, options),
  );
}

/**
 * Deletes the account with this name and, when it is given, this id. A slot that cannot be deleted (405) is emptied and
 * disabled. A missing account is no error.
 */
export async function deleteAccount(
  bmc: Bmc,
  { userName, id }: { userName: string; id?: string | undefined },
  options: CallOptions = {},
): Promise<'deleted' | 'missing'> {
  const accounts = await readAccounts(bmc, await readAccountService(bmc, options), options);
  const account = accounts.find((one) => one.userName === userName && (id === undefined || one.id === id));
  if (account === undefined) return 'missing';
  try {
    await bmc.delete(account.uri, options);
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    if (error.status === 404) return 'missing';
    if (error.status !== 405) throw error;
    await fill(bmc, account, { UserName: '', Enabled: false }, options);
  }
  return 'deleted';
}

async function serviceUri(bmc: Bmc, options: CallOptions): Promise<string> {
  const { AccountService } = await bmc.root(options);
  if (AccountService !== undefined) return AccountService;
  throw new RedfishError({ code: 'NotSupported', message: 'the service root of the BMC names no account service' });
}

interface Creation {
  readonly desired: DesiredAccount;
  readonly service: AccountService;
  readonly accounts: readonly Account[];
}

async function createAccount(bmc: Bmc, { desired, service, accounts }: Creation, options: CallOptions): Promise<void> {
  const body = { UserName: desired.userName, ...accountProperties(desired) };
  try {
    await bmc.post(service.accountsUri, body, options);
  } catch (error) {
    if (!(error instanceof RedfishError) || error.status !== 405) throw error;
    await fill(bmc, emptySlot(accounts, desired.userName), body, options);
  }
}

function emptySlot(accounts: readonly Account[], userName: string): Account {
  const slot = accounts.find(({ id, userName: taken }) => taken === undefined && id !== reservedSlot);
  if (slot !== undefined) return slot;
  throw new RedfishError({
    code: 'NotSupported',
    message: `the BMC has ${accounts.length} account slots and all of them are taken, so "${userName}" cannot be added; delete an account there`,
  });
}

function change(bmc: Bmc, account: Account, desired: DesiredAccount, options: CallOptions): Promise<void> {
  const newCredentials = { username: desired.userName, password: desired.password };
  return fill(bmc, account, accountProperties(desired), { ...options, newCredentials });
}

/** With the current ETag: some BMCs require it, and it prevents overwriting a concurrent change. */
async function fill(bmc: Bmc, { uri }: Account, body: object, options: WriteOptions): Promise<void> {
  const { etag } = await bmc.read(uri, accountSchema, options);
  await bmc.patch(uri, body, { ...options, ifMatch: etag });
}

const accountProperties = ({ roleId, password }: DesiredAccount): object => ({
  RoleId: roleId,
  Enabled: true,
  Password: password.reveal(),
});

/** Error responses of many BMCs repeat the rejected value. */
async function withoutPassword(password: Password, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    const { code, status, retryAfterMs, messageIds } = error;
    throw new RedfishError({ code, message: masked(error.message, password), status, retryAfterMs, messageIds });
  }
}

/** Masks the password, also in its JSON encoding and where the message was cut off within it. */
function masked(message: string, password: Password): string {
  const text = password.reveal();
  const escaped = JSON.stringify(text).slice(1, -1);
  const whole = message.replaceAll(escaped, '***').replaceAll(text, '***');
  for (let length = text.length - 1; length > 2; length -= 1) {
    const ending = `${text.slice(0, length)}…`;
    if (whole.endsWith(ending)) return `${whole.slice(0, -ending.length)}***…`;
  }
  return whole;
}

function toAccount(resource: z.output<typeof accountSchema>): Account {
  const { '@odata.id': uri, Id, UserName, RoleId, Enabled, Locked, PasswordExpiration } = resource;
  return {
    uri,
    id: Id ?? uri.slice(uri.lastIndexOf('/') + 1),
    userName: UserName,
    roleId: RoleId,
    enabled: Enabled ?? true,
    locked: Locked ?? false,
    passwordExpiration: timeOf(PasswordExpiration),
  };
}

/** Firmware reports the year 1 or 1970 for "never". */
const firstPlausibleTime = Date.UTC(2000);

function timeOf(text: string | undefined): string | undefined {
  const at = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) || at < firstPlausibleTime ? undefined : new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}
