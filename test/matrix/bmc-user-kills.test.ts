import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import {
  accountOf,
  createUser,
  effective,
  passwordIn,
  readyBmc,
  rejectedLogins,
  secretsMadeFor,
} from '../fixtures/bmc-user-fixture.ts';

const startTestenv = testenvsOfFile();

/** Fault points at which the operator is killed: the work done by then, which a new operator has to find out. */
const faultPoints: Record<string, (testenv: Testenv, node: Node) => Promise<unknown>> = {
  'the BMCSecret exists': (testenv) =>
    testenv.users.named('ada').until('names it', ({ spec }) => spec.bmcSecretRef !== undefined),
  'the password is sent to the BMC': (testenv, node) => {
    node.bmc.latency(300, { path: '/AccountService' });
    return testenv.users.named('ada').until('names it', ({ spec }) => spec.bmcSecretRef !== undefined);
  },
  'the BMC has the password': (testenv, node) =>
    testenv.accounts(node).until('has the account', () => accountOf(node, 'ada') !== undefined),
  'the login is verified': (testenv, node) => {
    const isTried = () => node.bmc.sessions.some(({ username }) => username === 'ada');
    return testenv.accounts(node).until('sees the login', isTried);
  },
  'the BMCUser is ready': (testenv) => testenv.users.named('ada').hasReason('PasswordVerified'),
};

for (const [faultPoint, reach] of Object.entries(faultPoints)) {
  test(`an operator killed when ${faultPoint} reaches the same end state`, async () => {
    await using testenv = await startTestenv({ operator: 'none', speed: 1 });
    const [node] = await testenv.addNodes({ generic: 1 });
    assert.ok(node);
    const first = await testenv.startOperatorProcess();
    await readyBmc(testenv, node);
    const made = await createUser(testenv, node);
    await reach(testenv, node);
    await first.kill();
    await node.bmc.heal();

    await using _second = await testenv.startOperatorProcess();
    const user = await testenv.users.named('ada').hasReason('PasswordVerified');
    assert.equal(accountOf(node)?.password, await passwordIn(testenv, effective(user)));
    assert.ok(rejectedLogins(node) <= 1, `${rejectedLogins(node)} rejected logins`);
    assert.equal((await secretsMadeFor(testenv, made)).length, 1);
    assert.equal(node.bmc.access.accounts.filter(({ username }) => username === 'ada').length, 1);
  });
}

test('an operator killed after it rotated its own password recovers its access', async () => {
  await using testenv = await startTestenv({ operator: 'none', speed: 1 });
  const [node] = await testenv.addNodes({ supermicro: 1 });
  assert.ok(node);
  const first = await testenv.startOperatorProcess();
  await readyBmc(testenv, node);
  const { username, password } = node.bmc;
  await createUser(testenv, node, { userName: username, roleID: 'Administrator' });
  await testenv.accounts(node).until('has the password', () => node.bmc.password !== password);
  await first.kill();

  await using _second = await testenv.startOperatorProcess();
  const user = await testenv.users.named('ada').hasReason('PasswordVerified');
  await testenv
    .bmc(node)
    .until(
      'is Enabled with the new BMCSecret',
      ({ spec, status }) => spec.bmcSecretRef.name === effective(user) && status?.state === 'Enabled',
    );
  assert.equal(node.bmc.password, await passwordIn(testenv, effective(user)));
  assert.ok(rejectedLogins(node) <= 1, 'the old password was tried at most once');
  assert.equal((await testenv.client.get(BMC, { name: node.name })).spec.bmcSecretRef.name, effective(user));
});

test('an operator with rejected credentials recovers after a restart with the password of a BMCUser', async () => {
  await using testenv = await startTestenv({ operator: 'none', speed: 1 });
  const node = await testenv.fleet.add({ vendor: 'generic', password: 'another-one' });
  const first = await testenv.startOperatorProcess();
  await testenv.plugIn(node);
  await testenv.bmc(node).hasReason('AuthenticationFailed');
  await first.kill();

  const { username, password } = node.bmc;
  const data = {
    username: Buffer.from(username).toString('base64'),
    password: Buffer.from(password).toString('base64'),
  };
  await testenv.client.create(BMCSecret, { metadata: { name: 'given' }, data });
  await createUser(testenv, node, { userName: username, roleID: 'Administrator', bmcSecretRef: { name: 'given' } });
  await using _second = await testenv.startOperatorProcess();
  await testenv.users.named('ada').hasReason('PasswordVerified');
  const { spec } = await testenv.bmc(node).reaches('Enabled');
  assert.equal(spec.bmcSecretRef.name, 'given');
  assert.equal(rejectedLogins(node), 1);
});
