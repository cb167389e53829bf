import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import { operationAnnotation } from '@metal/api/wire/contract.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import { type OwnerReference, ownedBy } from '@metal/kube/kinds/kind.ts';
import { deleteAccount as deleteAccountAt, putAccount as putAccountAt } from '@metal/redfish/resources/accounts.ts';
import { readAccounts, readAccountService } from '@metal/redfish/resources/accounts.ts';
import type { Bmc } from '@metal/redfish/http/bmc.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import { generatePassword, type PasswordOptions } from '@metal/redfish/resources/password-rules.ts';
import { traitsOf } from '@metal/redfish/traits.ts';
import type { ObservedAccount } from './observed-account.ts';
import type { Connection } from '../../bmc-connections/connection.ts';
import type { OperatorContext } from '../context.ts';
import { StaleDecision } from '../../errors.ts';
import { type BmcUserAction, type BmcUserFacts, requestKeyOf } from './facts.ts';
import type { NamedSecret } from './secret.ts';

type UserReconcile = Reconcile<BMCUser, BmcUserFacts, OperatorContext, ObservedAccount>;

export const bmcUserActions: Record<BmcUserAction, (reconcile: UserReconcile) => Promise<void>> = {
  observeAccounts,
  prepareSecret,
  putAccount,
  tryLogin,
  updateBmcSecretRef,
  dropSuperseded,
  deleteAccount,
  keepAccount,
  leaveBehind,
};

async function observeAccounts(reconcile: UserReconcile): Promise<void> {
  const { object, context, signal } = reconcile;
  const result = await request(reconcile, async (bmc) => {
    const found = await readAccountService(bmc, { signal });
    return { service: found, accounts: await readAccounts(bmc, found, { signal }) };
  });
  if (result === undefined) return;
  const { service, accounts } = result;
  const account = accounts.find(({ userName }) => userName === object.spec.userName);
  const { memory } = reconcile;
  memory.observation = { at: context.clock.now(), service, account };
  const isRight = account?.enabled === true && (account.roleId ?? object.spec.roleID) === object.spec.roleID;
  if (reconcile.facts.isEffective && isRight) memory.clearWrittenPassword();
}

/**
 * Creates a BMCSecret with a new password and references it in the spec, before the BMC gets it. The same write removes
 * the annotation. A BMCSecret that a crash leaves without a reference is deleted as superseded.
 */
async function prepareSecret(reconcile: UserReconcile): Promise<void> {
  const { object, facts, context } = reconcile;
  const { name, resourceVersion } = object.metadata;
  const { passwordSpecials: specials } = traitsOf(facts.bmc?.status?.manufacturer);
  const bounds = facts.service?.passwords ?? { minLength: undefined, maxLength: undefined };
  const secret = await context.client.create(BMCSecret, {
    metadata: { generateName: name, ownerReferences: [ownedBy(object)] },
    immutable: true,
    data: {
      username: base64(object.spec.userName),
      password: encodedPassword({ bounds, specials }),
    },
  });
  const taken = facts.rotation.isRequested ? { metadata: { annotations: { [operationAnnotation]: null } } } : {};
  const patch = { ...taken, spec: { bmcSecretRef: { name: secret.metadata.name } } };
  await context.client.mergePatch(BMCUser, { name }, patch, guardedBy(resourceVersion));
  reconcile.memory.freshSecret = secret.metadata.uid;
}

/**
 * Without + and / in its base64: the API server (1.36) reads bytes in rules as URL-safe base64, and rejects every later
 * change of an immutable BMCSecret with them, labels and owners included.
 */
function encodedPassword(options: PasswordOptions): string {
  const encoded = base64(generatePassword(options).reveal());
  return /[+/]/.test(encoded) ? encodedPassword(options) : encoded;
}

/** Clears the memory before the write: until the BMC responds, its password is unknown. */
async function putAccount(reconcile: UserReconcile): Promise<void> {
  const { object, facts, signal } = reconcile;
  const { memory } = reconcile;
  const { credentials, name } = secretOf(facts);
  const { userName, roleID: roleId } = object.spec;
  memory.beginPasswordWrite();
  const result = await request(reconcile, async (bmc) => {
    await putAccountAt(bmc, { userName, roleId, password: credentials.password }, { signal });
    return 'placed' as const;
  });
  if (result === undefined) return;
  memory.recordWrittenPassword(credentials.password);
  reconcile.log.info({ bmc: facts.bmc?.metadata.name, secret: name }, 'password written');
}

/** One attempt. If the operator's own new password is rejected, the operator uses the previous one again. */
async function tryLogin(reconcile: UserReconcile): Promise<void> {
  const { facts, context, signal } = reconcile;
  const { name, connection } = bmcConnectionOf(facts);
  const { credentials } = secretOf(facts);
  const { memory } = reconcile;
  const result = await context.accountChanges.run(name, () =>
    context.bmcConnections.tryLogin(name, connection, credentials, signal),
  );
  memory.recordVerification(credentials.password, result, context.clock.now(), { whileLockedOut: !facts.isBmcReady });
  if (result === 'accepted') memory.clearWrittenPassword();
  const { username, password } = connection;
  if (result !== 'accepted' && facts.isOwnAccount && facts.isPlaced)
    await withBmc(reconcile, (bmc) => bmc.replaceCredentials({ username, password }));
}

/** The BMC object gets the BMCSecret for all later logins of the operator. */
async function updateBmcSecretRef({ facts, context }: UserReconcile): Promise<void> {
  const { bmc } = facts;
  if (bmc === undefined) throw new StaleDecision('the BMC vanished while its password was changed');
  const patch = { spec: { bmcSecretRef: { name: secretOf(facts).name } } };
  await context.client.mergePatch(BMC, bmc.metadata, patch, guardedBy(bmc.metadata.resourceVersion));
}

/** Reads references from the API server: a stale cache must not lose a password. */
async function dropSuperseded({ object, facts, context }: UserReconcile): Promise<void> {
  const { client, secretsInUse } = context;
  const namedByBmcs = await secretsInUse.names();
  const user = await client.find(BMCUser, object.metadata);
  for (const { metadata } of facts.superseded) {
    const { name, uid, resourceVersion } = metadata;
    if (namedByBmcs.has(name) || name === user?.spec.bmcSecretRef?.name)
      throw new StaleDecision(`BMCSecret "${name}" is in use after all`);
    await client.delete(BMCSecret, { name }, { uid, resourceVersion });
  }
}

async function deleteAccount(reconcile: UserReconcile): Promise<void> {
  const { object, facts, signal } = reconcile;
  const { userName } = object.spec;
  const result = await request(reconcile, (bmc) =>
    deleteAccountAt(bmc, { userName, id: facts.account.id }, { signal }),
  );
  if (result !== undefined) reconcile.memory.isDone = true;
}

/** Garbage collection must not delete BMCSecrets that the BMC still needs. */
async function keepAccount(reconcile: UserReconcile): Promise<void> {
  const { object, facts, context } = reconcile;
  const inUse = facts.bmc?.spec?.bmcSecretRef.name ?? '';
  const secret = context.caches.bmcSecrets.get(inUse);
  const owners = secret?.metadata.ownerReferences;
  if (secret !== undefined && owners?.some(({ uid }) => uid === object.metadata.uid) === true) {
    const others: OwnerReference[] = owners.filter(({ uid }) => uid !== object.metadata.uid);
    const patch = { metadata: { ownerReferences: others } };
    await context.client.mergePatch(BMCSecret, secret.metadata, patch, guardedBy(secret.metadata.resourceVersion));
  }
  reconcile.warn(
    'AccountKept',
    `account "${object.spec.userName}" stays on BMC "${facts.bmc?.metadata.name ?? ''}" with BMCSecret "${inUse}": the operator itself logs in with it`,
  );
  reconcile.memory.isDone = true;
}

async function leaveBehind(reconcile: UserReconcile): Promise<void> {
  const { object, facts } = reconcile;
  const why = facts.blocker?.message ?? facts.rejection?.message ?? 'the BMC did not delete it in time';
  const { userName, bmcRef } = object.spec;
  reconcile.warn(
    'AccountLeftBehind',
    `account "${userName}" is perhaps still on BMC "${bmcRef?.name ?? ''}", delete it there by hand: ${why}`,
  );
  reconcile.memory.isDone = true;
  await Promise.resolve();
}

/** Undefined for a rejection, which concerns this account and not the BMC. */
async function request<T extends object | string>(
  reconcile: UserReconcile,
  callback: (bmc: Bmc) => Promise<T>,
): Promise<T | undefined> {
  const { object, facts, context } = reconcile;
  const result = await withBmc(reconcile, (bmc) => callback(bmc).catch(returnRejection));
  if (!(result instanceof RedfishError)) return result;
  reconcile.memory.recordRejection(result, requestKeyOf(object, facts.secret), context.clock.now());
  return undefined;
}

function withBmc<T>({ facts, context }: UserReconcile, callback: (bmc: Bmc) => Promise<T>): Promise<T> {
  const { name, connection } = bmcConnectionOf(facts);
  return context.accountChanges.run(name, () => context.bmcConnections.withBmc(name, connection, callback));
}

function bmcConnectionOf({ bmc, connection }: BmcUserFacts): { name: string; connection: Connection } {
  if (bmc === undefined || connection === undefined) throw new StaleDecision('the BMC lost its address or credentials');
  return { name: bmc.metadata.name, connection };
}

function secretOf({ secret }: BmcUserFacts): NamedSecret {
  if (secret === undefined) throw new StaleDecision('the BMCSecret vanished');
  return secret;
}

/** A response that a retry does not change. A rejected login of the operator concerns the BMC instead. */
function returnRejection(error: unknown): RedfishError {
  if (!(error instanceof RedfishError)) throw error;
  const { code, status = 0 } = error;
  const isRejected = ['NotSupported', 'NotFound', 'Forbidden'].includes(code) || (code === 'HttpError' && status < 500);
  if (isRejected) return error;
  throw error;
}

const guardedBy = (resourceVersion: string | undefined) => (resourceVersion === undefined ? {} : { resourceVersion });
const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
