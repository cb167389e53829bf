import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import {
  accountOf,
  createUser,
  effective,
  passwordIn,
  readyBmc,
  rejectedLogins,
  secretsMadeFor,
  textOf,
} from '../fixtures/bmc-user-fixture.ts';

const startTestenv = testenvsOfFile();

test('an account and its BMCSecret are created with a password of the maximum length, which is verified', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await readyBmc(testenv, node);
  await createUser(testenv, node);
  const user = await testenv.users.named('ada').hasReason('PasswordVerified');

  const name = effective(user);
  assert.ok(name.startsWith('ada') && name === user.spec.bmcSecretRef?.name, name);
  const secret = await testenv.client.get(BMCSecret, { name });
  assert.equal(secret.immutable, true);
  assert.equal(textOf(secret, 'username'), 'ada');
  assert.equal(textOf(secret, 'password').length, 30);
  const account = accountOf(node);
  assert.deepEqual([account?.password, account?.role], [textOf(secret, 'password'), 'Operator']);
  assert.equal(user.status?.id, account?.id);
  assert.ok(user.status?.lastRotation);
  assert.equal(rejectedLogins(node), 0);
  assert.equal(node.bmc.openSessions, 1, 'the session of the verification is closed');
});

test('a given BMCSecret is used unchanged, also for an existing account with another password', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.bmc.access.accounts.push({
    id: '7',
    username: 'ada',
    password: 'from-before',
    role: 'ReadOnly',
    enabled: true,
    passwordExpiration: undefined,
  });
  await readyBmc(testenv, node);
  await testenv.client.create(BMCSecret, {
    metadata: { name: 'given' },
    stringData: { username: 'ada', password: 'given-by-a-person' },
  });
  await createUser(testenv, node, { bmcSecretRef: { name: 'given' } });
  const user = await testenv.users.named('ada').hasReason('PasswordVerified');
  assert.equal(effective(user), 'given');
  assert.equal(user.status?.id, '7');
  assert.deepEqual([accountOf(node)?.password, accountOf(node)?.role], ['given-by-a-person', 'Operator']);
  assert.equal(rejectedLogins(node), 1, 'the existing password was verified once');
  assert.deepEqual(await secretsMadeFor(testenv, user), []);

  await testenv.secrets.setTexts('given', { password: 'changed-by-a-person' });
  await testenv.users.named('ada').until('has the changed password', ({ status }) => {
    const isNew = accountOf(node)?.password === 'changed-by-a-person';
    return isNew && status?.state === 'Ready';
  });
});

test('a given password that already works is not set again', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  const { username, password } = node.bmc;
  await readyBmc(testenv, node);
  await testenv.client.create(BMCSecret, { metadata: { name: 'given' }, stringData: { username, password } });
  await createUser(testenv, node, { userName: username, roleID: 'Administrator', bmcSecretRef: { name: 'given' } });
  const user = await testenv.users.named('ada').hasReason('PasswordVerified');
  assert.equal(effective(user), 'given');
  assert.equal(writesTo(node), 0);
  assert.equal(rejectedLogins(node), 0);
});

const writesTo = ({ bmc }: Node): number =>
  bmc.requests.filter(({ method, path }) => method !== 'GET' && path.includes('/AccountService/')).length;

test('a password is rotated when its period since the last rotation is over, and the old BMCSecret is deleted', async () => {
  await using testenv = await startTestenv({ speed: 60 });
  const [node] = await testenv.addNodes({ hpe: 1 });
  assert.ok(node);
  await readyBmc(testenv, node);
  await createUser(testenv, node, { rotationPeriod: '2m' });
  const first = await testenv.users.named('ada').hasReason('PasswordVerified');
  const second = await testenv.users
    .named('ada')
    .until(
      'has another password that works',
      (user) => effective(user) !== effective(first) && user.status?.state === 'Ready',
    );
  const rotated = (user: BMCUser) => Date.parse(user.status?.lastRotation ?? '');
  const apart = rotated(second) - rotated(first);
  assert.ok(apart >= minutes(2), `${apart} ms apart`);
  assert.equal(accountOf(node)?.password, await passwordIn(testenv, effective(second)));
  await testenv.secrets.named(effective(first)).isGone();
  assert.equal(rejectedLogins(node), 0);
});

test('a password is rotated once on request, with an event', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ lenovo: 1 });
  assert.ok(node);
  await readyBmc(testenv, node);
  await createUser(testenv, node);
  const first = await testenv.users.named('ada').hasReason('PasswordVerified');
  await testenv.client.mergePatch(
    BMCUser,
    { name: 'ada' },
    { metadata: { annotations: { 'metal.ironcore.dev/operation': 'rotate-credentials' } } },
  );
  const second = await testenv.users
    .named('ada')
    .until('works with another password', (user) => effective(user) !== effective(first));
  assert.equal(second.metadata.annotations?.['metal.ironcore.dev/operation'], undefined);
  await testenv.secrets.named(effective(first)).isGone();
  assert.equal((await secretsMadeFor(testenv, second)).length, 1);
  await testenv.hasEvent('ada', 'RotationRequested');
  assert.equal(rejectedLogins(node), 0);
});

test('an expired password is replaced once, and an expiration that the BMC no longer reports is cleared', async () => {
  await using testenv = await startTestenv({ speed: 200, flags: ['--bmc-call-timeout=30m'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await readyBmc(testenv, node);
  await createUser(testenv, node);
  const first = await testenv.users.named('ada').hasReason('PasswordVerified');
  const account = accountOf(node);
  assert.ok(account);
  account.passwordExpiration = new Date(testenv.clock.now() + seconds(30)).toISOString();
  const second = await testenv.users
    .named('ada')
    .until('works with another password', (user) => effective(user) !== effective(first));
  assert.equal(second.status?.passwordExpiration, undefined);
  await testenv.secrets.named(effective(first)).isGone();
  assert.equal((await secretsMadeFor(testenv, second)).length, 1, 'no rotation loop');
});

for (const vendor of ['generic', 'dell'] as const) {
  test(`deleting a BMCUser deletes the account of a ${vendor} BMC, or clears its slot`, async () => {
    await using testenv = await startTestenv();
    const [node] = await testenv.addNodes({ [vendor]: 1 });
    assert.ok(node);
    await readyBmc(testenv, node);
    await createUser(testenv, node);
    const user = await testenv.users.named('ada').hasReason('PasswordVerified');
    assert.equal(user.status?.id, vendor === 'dell' ? '3' : '2');
    await testenv.client.delete(BMCUser, { name: 'ada' });
    await testenv.users.named('ada').isGone();
    assert.equal(accountOf(node), undefined);
    if (vendor === 'dell') assert.equal(node.bmc.access.accounts[2]?.enabled, false);
  });
}

test('a BMC without a free account slot is reported, and two users never share one slot', async () => {
  await using testenv = await startTestenv();
  const node = await testenv.fleet.add({ vendor: 'dell', quirks: { accountSlots: 3 } });
  await readyBmc(testenv, node);
  for (const name of ['ada', 'bob']) {
    await testenv.client.create(BMCUser, {
      metadata: { name },
      spec: { userName: name, roleID: 'ReadOnly', bmcRef: { name: node.name } },
    });
  }
  const finished = await Promise.all(
    ['ada', 'bob'].map((name) =>
      testenv.users
        .named(name)
        .until('is Ready or in Error', ({ status }) => status?.state === 'Ready' || status?.state === 'Error'),
    ),
  );
  assert.equal(finished.filter(({ status }) => status?.state === 'Ready').length, 1);
  const rejected = finished.find(({ status }) => status?.state === 'Error');
  const condition = rejected?.status?.conditions?.[0];
  assert.equal(condition?.reason, 'NoFreeAccountSlot');
  assert.match(condition.message, /3 account slots and all of them are taken/);
});

test('an invalid BMCSecret is reported before any request to the BMC', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await readyBmc(testenv, node);
  await testenv.client.create(BMCSecret, { metadata: { name: 'given' }, stringData: { username: 'ada' } });
  await createUser(testenv, node, { bmcSecretRef: { name: 'given' } });
  await testenv.users.named('ada').hasReason('BMCSecretIncomplete');
  await testenv.secrets.setTexts('given', { username: 'bob', password: 'long-enough-1' });
  await testenv.users.named('ada').hasReason('BMCSecretOfAnotherUser');
  assert.equal(writesTo(node), 0);
  await testenv.secrets.setTexts('given', { username: 'ada', password: 'short' });
  const states = new Set<string | undefined>();
  using _watch = testenv.bmcs.onChange(({ after }) => states.add(after?.status?.state));
  const rejected = await testenv.users.named('ada').hasReason('AccountRefused');
  assert.match(rejected.status?.conditions?.[0]?.message ?? '', /8 to 30 characters, "\*\*\*" has not/);
  await testenv.secrets.setTexts('given', { password: 'long-enough-1' });
  await testenv.users.named('ada').hasReason('PasswordVerified');
  states.delete('Enabled');
  assert.deepEqual([...states], [], 'an invalid BMCSecret is not a failure of the BMC');
});

test('a password that the BMC accepts and then rejects is tried once, which locks no account', async () => {
  await using testenv = await startTestenv({ speed: 200, flags: ['--bmc-call-timeout=30m'] });
  const node = await testenv.fleet.add({ vendor: 'generic', quirks: { lockAfterFailures: 3 } });
  await readyBmc(testenv, node);
  await testenv.client.create(BMCSecret, {
    metadata: { name: 'given' },
    stringData: { username: 'ada', password: 'too-new-for-this-bmc' },
  });
  node.bmc.manglePasswords();
  await createUser(testenv, node, { bmcSecretRef: { name: 'given' } });
  const user = await testenv.users.named('ada').hasReason('LoginRejected');
  assert.equal(user.status?.effectiveBMCSecretRef, undefined);
  await testenv.clock.sleep(minutes(15));
  assert.equal(rejectedLogins(node), 1, 'one attempt, although the accounts are read repeatedly');
  assert.equal(node.bmc.access.isLocked, false);

  await node.bmc.heal();
  await testenv.client.mergePatch(
    BMCUser,
    { name: 'ada' },
    { metadata: { annotations: { 'metal.ironcore.dev/operation': 'rotate-credentials' } } },
  );
  await testenv.users.named('ada').hasReason('PasswordVerified');
});

test('an account deleted on the BMC is created again', async () => {
  await using testenv = await startTestenv({ speed: 200, flags: ['--bmc-call-timeout=30m'] });
  const [node] = await testenv.addNodes({ gigabyte: 1 });
  assert.ok(node);
  await readyBmc(testenv, node);
  await createUser(testenv, node);
  const user = await testenv.users.named('ada').hasReason('PasswordVerified');
  node.bmc.access.accounts.splice(1, 1);
  await testenv.accounts(node).until('has the account again', () => accountOf(node) !== undefined);
  assert.equal(accountOf(node)?.password, await passwordIn(testenv, effective(user)));
});

for (const vendor of ['supermicro', 'gigabyte', 'dell'] as const) {
  test(`the operator's own account is rotated, and the ${vendor} BMC stays Enabled`, async () => {
    await using testenv = await startTestenv();
    const [node] = await testenv.addNodes({ [vendor]: 1 });
    assert.ok(node);
    await readyBmc(testenv, node);
    const { username } = node.bmc;
    const states = new Set<string | undefined>();
    using _watch = testenv.bmcs.onChange(({ after }) => states.add(after?.status?.state));
    await createUser(testenv, node, { userName: username, roleID: 'Administrator' });
    const user = await testenv.users.named('ada').hasReason('PasswordVerified');
    const bmc = await testenv
      .bmc(node)
      .until('names the new BMCSecret', ({ spec }) => spec.bmcSecretRef.name !== node.name);
    assert.equal(bmc.spec.bmcSecretRef.name, effective(user));
    assert.equal(node.bmc.password, await passwordIn(testenv, effective(user)));
    await testenv.server(node).hasReason('Available');
    assert.deepEqual([...states], ['Enabled']);
    assert.equal(rejectedLogins(node), 0);

    await testenv.client.delete(BMCUser, { name: 'ada' });
    await testenv.users.named('ada').isGone();
    assert.ok(accountOf(node, username), 'the account still exists');
    const kept = await testenv.client.get(BMCSecret, { name: effective(user) });
    assert.deepEqual(kept.metadata.ownerReferences ?? [], [], 'and its BMCSecret is not garbage-collected');
  });
}

test('a deletion stops waiting for an unreachable BMC, and reports what remains on it', async () => {
  await using testenv = await startTestenv({ speed: 60 });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await readyBmc(testenv, node);
  await createUser(testenv, node);
  await testenv.users.named('ada').hasReason('PasswordVerified');
  await node.bmc.refuse();
  await testenv.client.delete(BMCUser, { name: 'ada' });
  await testenv.users.named('ada').isGone();
  await testenv.hasEvent('ada', 'AccountLeftBehind');
});

test('a deletion completes without the BMC object and without the account', async () => {
  await using testenv = await startTestenv();
  const [node, other] = await testenv.addNodes({ generic: 2 });
  assert.ok(node && other);
  await readyBmc(testenv, node);
  await createUser(testenv, node);
  await testenv.users.named('ada').hasReason('PasswordVerified');
  node.bmc.access.accounts.splice(1, 1);
  await testenv.client.delete(BMCUser, { name: 'ada' });
  await testenv.users.named('ada').isGone();

  await createUser(testenv, node, { bmcRef: { name: 'missing' } });
  await testenv.users.named('ada').hasReason('BMCNotFound');
  await testenv.client.delete(BMCUser, { name: 'ada' });
  await testenv.users.named('ada').isGone();
});

test("a BMCUser for the operator's account continues when the BMC accepts logins again", async () => {
  await using testenv = await startTestenv({ speed: 60 });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  const { username } = node.bmc;
  await testenv.client.create(BMCSecret, {
    metadata: { name: 'given' },
    stringData: { username, password: 'long-enough-1' },
  });
  node.bmc.answer(403);
  const logins = () => node.bmc.requests.filter(({ path }) => path.endsWith('/SessionService/Sessions')).length;
  await testenv.plugIn(node);
  await testenv.bmc(node).hasReason('AuthenticationFailed');
  await createUser(testenv, node, { userName: username, roleID: 'Administrator', bmcSecretRef: { name: 'given' } });
  await testenv.users.named('ada').hasReason('BMCNotReady');
  assert.equal(logins(), 2, 'the password of the BMCUser was tried');

  await node.bmc.heal();
  await testenv.secrets.annotate(node.name, 'now');
  await testenv.users.named('ada').hasReason('PasswordVerified');
  assert.equal(node.bmc.password, 'long-enough-1');
});

test('a password rejected by the BMC is not tried again for a BMCUser with the same password', async () => {
  await using testenv = await startTestenv();
  const node = await testenv.fleet.add({ vendor: 'generic', password: 'another-one' });
  await testenv.plugIn(node);
  await testenv.bmc(node).hasReason('AuthenticationFailed');
  const { username } = node.bmc;
  await createUser(testenv, node, { userName: username, roleID: 'Administrator', bmcSecretRef: { name: node.name } });
  await testenv.users.named('ada').hasReason('BMCNotReady');
  assert.equal(rejectedLogins(node), 1);
});
