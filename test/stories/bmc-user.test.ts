import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import { minutes, seconds } from '@metal/kube/decide.ts';
import { type Lab, labsOfFile } from '@metal/lab/lab.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';

const openLab = labsOfFile();

type UserWish = Partial<BMCUser['spec']>;

/** A BMCUser for the machine, as a person writes it. */
function createUser(lab: Lab, { name }: Node, wish: UserWish = {}): Promise<BMCUser> {
  return lab.client.create(BMCUser, {
    metadata: { name: 'ada' },
    spec: { userName: 'ada', roleID: 'Operator', bmcRef: { name }, ...wish },
  });
}

async function readyBmc(lab: Lab, node: Node): Promise<void> {
  await lab.plugIn(node);
  await lab.bmc(node).reaches('Enabled');
}

const textOf = (secret: BMCSecret | undefined, key: string): string =>
  Buffer.from(secret?.data?.[key] ?? '', 'base64').toString();
const passwordIn = async (lab: Lab, name: string): Promise<string> =>
  textOf(await lab.client.get(BMCSecret, { name }), 'password');
const accountOf = ({ bmc }: Node, username = 'ada') =>
  bmc.access.accounts.find((account) => account.username === username);
const secretsMadeFor = async (lab: Lab, { metadata }: BMCUser): Promise<BMCSecret[]> =>
  (await lab.client.list(BMCSecret)).items.filter(({ metadata: { ownerReferences } }) =>
    ownerReferences?.some(({ uid }) => uid === metadata.uid),
  );
const effective = ({ status }: BMCUser): string => status?.effectiveBMCSecretRef?.name ?? '';

/** Every password that was ever typed wrong would count here. */
const rejectedLogins = ({ bmc }: Node): number => bmc.access.failedLogins;

test('an account and its BMCSecret are made, with the longest password the BMC takes, and it works', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await readyBmc(lab, node);
  await createUser(lab, node);
  const user = await lab.user('ada').says('PasswordVerified');

  const name = effective(user);
  assert.ok(name.startsWith('ada') && name === user.spec.bmcSecretRef?.name, name);
  const secret = await lab.client.get(BMCSecret, { name });
  assert.equal(secret.immutable, true);
  assert.equal(textOf(secret, 'username'), 'ada');
  assert.equal(textOf(secret, 'password').length, 30);
  const account = accountOf(node);
  assert.deepEqual([account?.password, account?.role], [textOf(secret, 'password'), 'Operator']);
  assert.equal(user.status?.id, account?.id);
  assert.ok(user.status?.lastRotation);
  assert.equal(rejectedLogins(node), 0);
  assert.equal(node.bmc.openSessions, 1, 'the trial logged out again');
});

test('a BMCSecret that is given is used as it is, also for an account that is there with another password', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  node.bmc.access.accounts.push({
    id: '7',
    username: 'ada',
    password: 'from-before',
    role: 'ReadOnly',
    enabled: true,
    passwordExpiration: undefined,
  });
  await readyBmc(lab, node);
  await lab.client.create(BMCSecret, {
    metadata: { name: 'given' },
    stringData: { username: 'ada', password: 'given-by-a-person' },
  });
  await createUser(lab, node, { bmcSecretRef: { name: 'given' } });
  const user = await lab.user('ada').says('PasswordVerified');
  assert.equal(effective(user), 'given');
  assert.equal(user.status?.id, '7');
  assert.deepEqual([accountOf(node)?.password, accountOf(node)?.role], ['given-by-a-person', 'Operator']);
  assert.equal(rejectedLogins(node), 1, 'the BMC was asked once whether it knows the password');
  assert.deepEqual(await secretsMadeFor(lab, user), []);

  await lab.patchSecret('given', { password: 'changed-by-a-person' });
  await lab.user('ada').until('has the changed password', ({ status }) => {
    const isNew = accountOf(node)?.password === 'changed-by-a-person';
    return isNew && status?.state === 'Ready';
  });
});

test('a given password that works already is not set again', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  const { username, password } = node.bmc;
  await readyBmc(lab, node);
  await lab.client.create(BMCSecret, { metadata: { name: 'given' }, stringData: { username, password } });
  await createUser(lab, node, { userName: username, roleID: 'Administrator', bmcSecretRef: { name: 'given' } });
  const user = await lab.user('ada').says('PasswordVerified');
  assert.equal(effective(user), 'given');
  assert.equal(writesTo(node), 0);
  assert.equal(rejectedLogins(node), 0);
});

const writesTo = ({ bmc }: Node): number =>
  bmc.requests.filter(({ method, path }) => method !== 'GET' && path.includes('/AccountService/')).length;

test('a password is rotated when its period is over, counted from the last rotation, and the old BMCSecret goes', async () => {
  await using lab = await openLab({ speed: 200 });
  const [node] = await lab.rack({ hpe: 1 });
  assert.ok(node);
  await readyBmc(lab, node);
  await createUser(lab, node, { rotationPeriod: '2m' });
  const first = await lab.user('ada').says('PasswordVerified');
  const second = await lab
    .user('ada')
    .until(
      'has another password that works',
      (user) => effective(user) !== effective(first) && user.status?.state === 'Ready',
    );
  const rotated = (user: BMCUser) => Date.parse(user.status?.lastRotation ?? '');
  const apart = rotated(second) - rotated(first);
  assert.ok(apart >= minutes(2) && apart < minutes(4), `${apart} ms apart`);
  assert.equal(accountOf(node)?.password, await passwordIn(lab, effective(second)));
  await lab.secret(effective(first)).isGone();
  assert.equal(rejectedLogins(node), 0);
});

test('a password is rotated on request, once, and an event says so', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ lenovo: 1 });
  assert.ok(node);
  await readyBmc(lab, node);
  await createUser(lab, node);
  const first = await lab.user('ada').says('PasswordVerified');
  await lab.client.mergePatch(
    BMCUser,
    { name: 'ada' },
    { metadata: { annotations: { 'metal.ironcore.dev/operation': 'rotate-credentials' } } },
  );
  const second = await lab
    .user('ada')
    .until('works with another password', (user) => effective(user) !== effective(first));
  assert.equal(second.metadata.annotations?.['metal.ironcore.dev/operation'], undefined);
  await lab.secret(effective(first)).isGone();
  assert.equal((await secretsMadeFor(lab, second)).length, 1);
  await lab.tells('ada', 'RotationRequested');
  assert.equal(rejectedLogins(node), 0);
});

test('an expired password is replaced once, and an expiration that is no longer reported is cleared', async () => {
  await using lab = await openLab({ speed: 200 });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await readyBmc(lab, node);
  await createUser(lab, node);
  const first = await lab.user('ada').says('PasswordVerified');
  const account = accountOf(node);
  assert.ok(account);
  account.passwordExpiration = new Date(lab.clock.now() + seconds(30)).toISOString();
  const second = await lab
    .user('ada')
    .until('works with another password', (user) => effective(user) !== effective(first));
  assert.equal(second.status?.passwordExpiration, undefined);
  await lab.secret(effective(first)).isGone();
  assert.equal((await secretsMadeFor(lab, second)).length, 1, 'no loop of rotations');
});

for (const vendor of ['generic', 'dell'] as const) {
  test(`deleting a BMCUser deletes the account of a ${vendor} BMC, or empties its slot`, async () => {
    await using lab = await openLab();
    const [node] = await lab.rack({ [vendor]: 1 });
    assert.ok(node);
    await readyBmc(lab, node);
    await createUser(lab, node);
    const user = await lab.user('ada').says('PasswordVerified');
    assert.equal(user.status?.id, vendor === 'dell' ? '3' : '2');
    await lab.client.delete(BMCUser, { name: 'ada' });
    await lab.user('ada').isGone();
    assert.equal(accountOf(node), undefined);
    if (vendor === 'dell') assert.equal(node.bmc.access.accounts[2]?.enabled, false);
  });
}

test('a BMC without a free slot is said, and two users never share one', async () => {
  await using lab = await openLab();
  const node = await lab.fleet.add({ vendor: 'dell', quirks: { accountSlots: 3 } });
  await readyBmc(lab, node);
  for (const name of ['ada', 'bob']) {
    await lab.client.create(BMCUser, {
      metadata: { name },
      spec: { userName: name, roleID: 'ReadOnly', bmcRef: { name: node.name } },
    });
  }
  const settled = await Promise.all(
    ['ada', 'bob'].map((name) =>
      lab.user(name).until('is judged', ({ status }) => status?.state === 'Ready' || status?.state === 'Error'),
    ),
  );
  assert.equal(settled.filter(({ status }) => status?.state === 'Ready').length, 1);
  const refused = settled.find(({ status }) => status?.state === 'Error');
  const condition = refused?.status?.conditions?.[0];
  assert.equal(condition?.reason, 'NoFreeAccountSlot');
  assert.match(condition.message, /3 account slots and all of them are taken/);
});

test('a BMCSecret that cannot be used is said before the BMC hears of it', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await readyBmc(lab, node);
  await lab.client.create(BMCSecret, { metadata: { name: 'given' }, stringData: { username: 'ada' } });
  await createUser(lab, node, { bmcSecretRef: { name: 'given' } });
  await lab.user('ada').says('BMCSecretIncomplete');
  await lab.patchSecret('given', { username: 'bob', password: 'long-enough-1' });
  await lab.user('ada').says('BMCSecretOfAnotherUser');
  assert.equal(writesTo(node), 0);
  await lab.patchSecret('given', { username: 'ada', password: 'short' });
  const states = new Set<string | undefined>();
  using _watch = lab.bmcs.onChange(({ after }) => states.add(after?.status?.state));
  const refused = await lab.user('ada').says('AccountRefused');
  assert.match(refused.status?.conditions?.[0]?.message ?? '', /8 to 30 characters, "\*\*\*" has not/);
  await lab.patchSecret('given', { password: 'long-enough-1' });
  await lab.user('ada').says('PasswordVerified');
  states.delete('Enabled');
  assert.deepEqual([...states], [], 'what was refused is no failure of the BMC');
});

test('a password that the BMC takes and then rejects is tried once and never again, which locks nothing', async () => {
  await using lab = await openLab({ speed: 200 });
  const node = await lab.fleet.add({ vendor: 'generic', quirks: { lockAfterFailures: 3 } });
  await readyBmc(lab, node);
  await lab.client.create(BMCSecret, {
    metadata: { name: 'given' },
    stringData: { username: 'ada', password: 'too-new-for-this-bmc' },
  });
  node.bmc.manglePasswords();
  await createUser(lab, node, { bmcSecretRef: { name: 'given' } });
  const user = await lab.user('ada').says('LoginRejected');
  assert.equal(user.status?.effectiveBMCSecretRef, undefined);
  await lab.clock.sleep(minutes(15));
  assert.equal(rejectedLogins(node), 1, 'one attempt, although the accounts are looked at again and again');
  assert.equal(node.bmc.access.isLocked, false);

  await node.bmc.heal();
  await lab.client.mergePatch(
    BMCUser,
    { name: 'ada' },
    { metadata: { annotations: { 'metal.ironcore.dev/operation': 'rotate-credentials' } } },
  );
  await lab.user('ada').says('PasswordVerified');
});

test('an account that somebody deletes on the BMC is made anew', async () => {
  await using lab = await openLab({ speed: 200 });
  const [node] = await lab.rack({ gigabyte: 1 });
  assert.ok(node);
  await readyBmc(lab, node);
  await createUser(lab, node);
  const user = await lab.user('ada').says('PasswordVerified');
  node.bmc.access.accounts.splice(1, 1);
  await lab.accounts(node).until('has the account again', () => accountOf(node) !== undefined);
  assert.equal(accountOf(node)?.password, await passwordIn(lab, effective(user)));
});

for (const vendor of ['supermicro', 'gigabyte', 'dell'] as const) {
  test(`the account that the operator itself uses is rotated, and the ${vendor} BMC stays Enabled`, async () => {
    await using lab = await openLab();
    const [node] = await lab.rack({ [vendor]: 1 });
    assert.ok(node);
    await readyBmc(lab, node);
    const { username } = node.bmc;
    const states = new Set<string | undefined>();
    using _watch = lab.bmcs.onChange(({ after }) => states.add(after?.status?.state));
    await createUser(lab, node, { userName: username, roleID: 'Administrator' });
    const user = await lab.user('ada').says('PasswordVerified');
    const bmc = await lab
      .bmc(node)
      .until('names the new BMCSecret', ({ spec }) => spec.bmcSecretRef.name !== node.name);
    assert.equal(bmc.spec.bmcSecretRef.name, effective(user));
    assert.equal(node.bmc.password, await passwordIn(lab, effective(user)));
    await lab.server(node).says('Available');
    assert.deepEqual([...states], ['Enabled']);
    assert.equal(rejectedLogins(node), 0);

    await lab.client.delete(BMCUser, { name: 'ada' });
    await lab.user('ada').isGone();
    assert.ok(accountOf(node, username), 'the account stays');
    const kept = await lab.client.get(BMCSecret, { name: effective(user) });
    assert.deepEqual(kept.metadata.ownerReferences ?? [], [], 'and its BMCSecret is not collected');
  });
}

test('a deletion does not wait for ever for a BMC that is away, and says what it leaves behind', async () => {
  await using lab = await openLab({ speed: 200 });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await readyBmc(lab, node);
  await createUser(lab, node);
  await lab.user('ada').says('PasswordVerified');
  await node.bmc.refuse();
  await lab.client.delete(BMCUser, { name: 'ada' });
  await lab.user('ada').isGone();
  await lab.tells('ada', 'AccountLeftBehind');
});

test('a deletion does not need the BMC object, nor an account that is gone', async () => {
  await using lab = await openLab();
  const [node, other] = await lab.rack({ generic: 2 });
  assert.ok(node && other);
  await readyBmc(lab, node);
  await createUser(lab, node);
  await lab.user('ada').says('PasswordVerified');
  node.bmc.access.accounts.splice(1, 1);
  await lab.client.delete(BMCUser, { name: 'ada' });
  await lab.user('ada').isGone();

  await createUser(lab, node, { bmcRef: { name: 'nobody' } });
  await lab.user('ada').says('BMCNotFound');
  await lab.client.delete(BMCUser, { name: 'ada' });
  await lab.user('ada').isGone();
});

/** Moments at which the operator is killed: what it has done by then, and what a new one has to find out. */
const moments: Record<string, (lab: Lab, node: Node) => Promise<unknown>> = {
  'the BMCSecret is made': (lab) => lab.user('ada').until('names it', ({ spec }) => spec.bmcSecretRef !== undefined),
  'the password is on its way to the BMC': (lab, node) => {
    node.bmc.latency(300, { path: '/AccountService' });
    return lab.user('ada').until('names it', ({ spec }) => spec.bmcSecretRef !== undefined);
  },
  'the BMC has the password': (lab, node) =>
    lab.accounts(node).until('has the account', () => accountOf(node, 'ada') !== undefined),
  'the login is tried': (lab, node) => {
    const isTried = () => node.bmc.sessions.some(({ username }) => username === 'ada');
    return lab.accounts(node).until('sees the login', isTried);
  },
  'everything is done': (lab) => lab.user('ada').says('PasswordVerified'),
};

for (const [moment, happens] of Object.entries(moments)) {
  test(`an operator killed when ${moment} ends where an undisturbed one does`, async () => {
    await using lab = await openLab({ operator: 'none', speed: 1 });
    const [node] = await lab.rack({ generic: 1 });
    assert.ok(node);
    const first = await lab.startOperatorProcess();
    await readyBmc(lab, node);
    const made = await createUser(lab, node);
    await happens(lab, node);
    await first.kill();
    await node.bmc.heal();

    await using _second = await lab.startOperatorProcess();
    const user = await lab.user('ada').says('PasswordVerified');
    assert.equal(accountOf(node)?.password, await passwordIn(lab, effective(user)));
    assert.ok(rejectedLogins(node) <= 1, `${rejectedLogins(node)} rejected logins`);
    assert.equal((await secretsMadeFor(lab, made)).length, 1);
    assert.equal(node.bmc.access.accounts.filter(({ username }) => username === 'ada').length, 1);
  });
}

test('an operator killed after it changed its own password finds its way back in', async () => {
  await using lab = await openLab({ operator: 'none', speed: 1 });
  const [node] = await lab.rack({ supermicro: 1 });
  assert.ok(node);
  const first = await lab.startOperatorProcess();
  await readyBmc(lab, node);
  const { username, password } = node.bmc;
  await createUser(lab, node, { userName: username, roleID: 'Administrator' });
  await lab.accounts(node).until('has the password', () => node.bmc.password !== password);
  await first.kill();

  await using _second = await lab.startOperatorProcess();
  const user = await lab.user('ada').says('PasswordVerified');
  await lab
    .bmc(node)
    .until(
      'is Enabled with the new BMCSecret',
      ({ spec, status }) => spec.bmcSecretRef.name === effective(user) && status?.state === 'Enabled',
    );
  assert.equal(node.bmc.password, await passwordIn(lab, effective(user)));
  assert.ok(rejectedLogins(node) <= 1, 'the old password was tried once at most');
  assert.equal((await lab.client.get(BMC, { name: node.name })).spec.bmcSecretRef.name, effective(user));
});

test('an operator that was locked out before it was restarted comes in with the password that a BMCUser has', async () => {
  await using lab = await openLab({ operator: 'none', speed: 1 });
  const node = await lab.fleet.add({ vendor: 'generic', password: 'another-one' });
  const first = await lab.startOperatorProcess();
  await lab.plugIn(node);
  await lab.bmc(node).says('AuthenticationFailed');
  await first.kill();

  const { username, password } = node.bmc;
  const data = {
    username: Buffer.from(username).toString('base64'),
    password: Buffer.from(password).toString('base64'),
  };
  await lab.client.create(BMCSecret, { metadata: { name: 'given' }, data });
  await createUser(lab, node, { userName: username, roleID: 'Administrator', bmcSecretRef: { name: 'given' } });
  await using _second = await lab.startOperatorProcess();
  await lab.user('ada').says('PasswordVerified');
  const { spec } = await lab.bmc(node).reaches('Enabled');
  assert.equal(spec.bmcSecretRef.name, 'given');
  assert.equal(rejectedLogins(node), 1);
});

test('a BMCUser for the account of the operator goes on when that is let in again', async () => {
  await using lab = await openLab({ speed: 200 });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  const { username } = node.bmc;
  await lab.client.create(BMCSecret, {
    metadata: { name: 'given' },
    stringData: { username, password: 'long-enough-1' },
  });
  node.bmc.answer(403, { path: '/SessionService/Sessions' });
  const logins = () => node.bmc.requests.filter(({ path }) => path.endsWith('/SessionService/Sessions')).length;
  await lab.plugIn(node);
  await lab.bmc(node).says('AuthenticationFailed');
  await createUser(lab, node, { userName: username, roleID: 'Administrator', bmcSecretRef: { name: 'given' } });
  await lab.user('ada').says('BMCNotReady');
  assert.equal(logins(), 2, 'the password of the BMCUser was tried');

  await node.bmc.heal();
  await lab.annotateSecret(node.name, 'now');
  await lab.user('ada').says('PasswordVerified');
  assert.equal(node.bmc.password, 'long-enough-1');
});

test('a password that the BMC rejected is not tried again for a BMCUser with the same one', async () => {
  await using lab = await openLab();
  const node = await lab.fleet.add({ vendor: 'generic', password: 'another-one' });
  await lab.plugIn(node);
  await lab.bmc(node).says('AuthenticationFailed');
  const { username } = node.bmc;
  await createUser(lab, node, { userName: username, roleID: 'Administrator', bmcSecretRef: { name: node.name } });
  await lab.user('ada').says('BMCNotReady');
  assert.equal(rejectedLogins(node), 1);
});
