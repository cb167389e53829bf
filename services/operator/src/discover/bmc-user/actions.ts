import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import { operationAnnotation } from '@metal/api/wire/contract.ts';
import type { Turn } from '@metal/kube/controller.ts';
import { type OwnerReference, ownedBy } from '@metal/kube/kind.ts';
import { deleteAccount as deleteAccountAt, putAccount as putAccountAt } from '@metal/redfish/accounts.ts';
import { readAccounts, readAccountService } from '@metal/redfish/accounts.ts';
import type { Bmc } from '@metal/redfish/bmc.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import { generatePassword, type PasswordWish } from '@metal/redfish/password-rules.ts';
import { traitsOf } from '@metal/redfish/traits.ts';
import type { AccountMemory } from '../../account-memories.ts';
import type { Connection } from '../../connection.ts';
import type { OperatorContext } from '../../context.ts';
import { StaleDecision } from '../../errors.ts';
import { type BmcUserAction, type BmcUserFacts, wishOf } from './facts.ts';
import type { NamedSecret } from './secret.ts';

type UserTurn = Turn<BMCUser, BmcUserFacts, OperatorContext>;

export const bmcUserActions: Record<BmcUserAction, (turn: UserTurn) => Promise<void>> = {
  look,
  prepareSecret,
  putAccount,
  tryLogin,
  handOver,
  dropSuperseded,
  deleteAccount,
  keepAccount,
  leaveBehind,
};

async function look(turn: UserTurn): Promise<void> {
  const { object, context, signal } = turn;
  const answer = await ask(turn, async (bmc) => {
    const found = await readAccountService(bmc, { signal });
    return { service: found, accounts: await readAccounts(bmc, found, { signal }) };
  });
  if (answer === undefined) return;
  const { service, accounts } = answer;
  const account = accounts.find(({ userName }) => userName === object.spec.userName);
  const memory = memoryOf(turn);
  memory.look = { at: context.clock.now(), service, account };
  const isRight = account?.enabled === true && (account.roleId ?? object.spec.roleID) === object.spec.roleID;
  if (turn.facts.isSettled && isRight) memory.forgetPlacing();
}

/**
 * Makes a BMCSecret with a new password and names it in the spec, before any BMC hears of it. The request by annotation
 * is taken back with the same write. A BMCSecret that a crash leaves without reference is deleted as superseded.
 */
async function prepareSecret(turn: UserTurn): Promise<void> {
  const { object, facts, context } = turn;
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
  memoryOf(turn).freshSecret = secret.metadata.uid;
}

/**
 * Without + and / in its base64: the API server (1.36) reads bytes in rules as URL-safe base64, and refuses every later
 * change of an immutable BMCSecret that has them, labels and owners included.
 */
function encodedPassword(wish: PasswordWish): string {
  const encoded = base64(generatePassword(wish).reveal());
  return /[+/]/.test(encoded) ? encodedPassword(wish) : encoded;
}

/** From the first byte on nobody knows which password the BMC has, so what is known is forgotten before it is sent. */
async function putAccount(turn: UserTurn): Promise<void> {
  const { object, facts, signal } = turn;
  const memory = memoryOf(turn);
  const { credentials, name } = secretOf(facts);
  const { userName, roleID: roleId } = object.spec;
  memory.beginPlacing();
  const answer = await ask(turn, async (bmc) => {
    await putAccountAt(bmc, { userName, roleId, password: credentials.password }, { signal });
    return 'placed' as const;
  });
  if (answer === undefined) return;
  memory.placed(credentials.password);
  turn.log.info({ bmc: facts.bmc?.metadata.name, secret: name }, 'password placed');
}

/** One attempt. When the operator's own new password does not work, it goes back to the one it came with. */
async function tryLogin(turn: UserTurn): Promise<void> {
  const { facts, context, signal } = turn;
  const { name, connection } = lineOf(facts);
  const { credentials } = secretOf(facts);
  const memory = memoryOf(turn);
  const answer = await context.accounts.inTurn(name, () =>
    context.access.tryLogin(name, connection, credentials, signal),
  );
  memory.tried(credentials.password, answer, context.clock.now(), { whileLockedOut: !facts.isBmcReady });
  if (answer === 'accepted') memory.forgetPlacing();
  const { username, password } = connection;
  if (answer !== 'accepted' && facts.isOwnAccount && facts.isPlaced)
    await talk(turn, (bmc) => bmc.replaceCredentials({ username, password }));
}

/** The BMC object names the BMCSecret that the operator can log in with from now on. */
async function handOver({ facts, context }: UserTurn): Promise<void> {
  const { bmc } = facts;
  if (bmc === undefined) throw new StaleDecision('the BMC vanished while its password was changed');
  const patch = { spec: { bmcSecretRef: { name: secretOf(facts).name } } };
  await context.client.mergePatch(BMC, bmc.metadata, patch, guardedBy(bmc.metadata.resourceVersion));
}

/** A password must not get lost on the word of a cache: the references are read anew. */
async function dropSuperseded({ object, facts, context }: UserTurn): Promise<void> {
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

async function deleteAccount(turn: UserTurn): Promise<void> {
  const { object, facts, signal } = turn;
  const { userName } = object.spec;
  const answer = await ask(turn, (bmc) => deleteAccountAt(bmc, { userName, id: facts.account.id }, { signal }));
  if (answer !== undefined) memoryOf(turn).isDone = true;
}

/** The BMCSecrets that the BMC still needs must not be collected with their owner. */
async function keepAccount(turn: UserTurn): Promise<void> {
  const { object, facts, context } = turn;
  const inUse = facts.bmc?.spec?.bmcSecretRef.name ?? '';
  const secret = context.caches.bmcSecrets.get(inUse);
  const owners = secret?.metadata.ownerReferences;
  if (secret !== undefined && owners?.some(({ uid }) => uid === object.metadata.uid) === true) {
    const others: OwnerReference[] = owners.filter(({ uid }) => uid !== object.metadata.uid);
    const patch = { metadata: { ownerReferences: others } };
    await context.client.mergePatch(BMCSecret, secret.metadata, patch, guardedBy(secret.metadata.resourceVersion));
  }
  turn.warn(
    'AccountKept',
    `account "${object.spec.userName}" stays on BMC "${facts.bmc?.metadata.name ?? ''}" with BMCSecret "${inUse}": the operator itself logs in with it`,
  );
  memoryOf(turn).isDone = true;
}

async function leaveBehind(turn: UserTurn): Promise<void> {
  const { object, facts } = turn;
  const why = facts.obstacle?.message ?? facts.refusal?.message ?? 'the BMC did not delete it in time';
  const { userName, bmcRef } = object.spec;
  turn.warn(
    'AccountLeftBehind',
    `account "${userName}" is perhaps still on BMC "${bmcRef?.name ?? ''}", delete it there by hand: ${why}`,
  );
  memoryOf(turn).isDone = true;
  await Promise.resolve();
}

/** A refusal concerns this account and not the BMC: it is remembered here and gives undefined. */
async function ask<T extends object | string>(
  turn: UserTurn,
  conversation: (bmc: Bmc) => Promise<T>,
): Promise<T | undefined> {
  const { object, facts, context } = turn;
  const answer = await talk(turn, (bmc) => conversation(bmc).catch(passRefusal));
  if (!(answer instanceof RedfishError)) return answer;
  memoryOf(turn).refused(answer, wishOf(object, facts.secret), context.clock.now());
  return undefined;
}

function talk<T>({ facts, context }: UserTurn, conversation: (bmc: Bmc) => Promise<T>): Promise<T> {
  const { name, connection } = lineOf(facts);
  return context.accounts.inTurn(name, () => context.access.talk(name, connection, conversation));
}

function lineOf({ bmc, connection }: BmcUserFacts): { name: string; connection: Connection } {
  if (bmc === undefined || connection === undefined) throw new StaleDecision('the BMC lost its address or credentials');
  return { name: bmc.metadata.name, connection };
}

function secretOf({ secret }: BmcUserFacts): NamedSecret {
  if (secret === undefined) throw new StaleDecision('the BMCSecret vanished');
  return secret;
}

const memoryOf = ({ object, context }: UserTurn): AccountMemory => context.accounts.of(object.metadata.uid ?? '');

/** Answers that asking again does not change. Whether the operator itself may log in is the matter of the BMC. */
function passRefusal(error: unknown): RedfishError {
  if (!(error instanceof RedfishError)) throw error;
  const { code, status = 0 } = error;
  const isRefusal = ['NotSupported', 'NotFound', 'Forbidden'].includes(code) || (code === 'HttpError' && status < 500);
  if (isRefusal) return error;
  throw error;
}

const guardedBy = (resourceVersion: string | undefined) => (resourceVersion === undefined ? {} : { resourceVersion });
const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
