import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { type Lab, labsOfFile } from '@metal/lab/lab.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import {
  accountOf,
  createUser,
  effective,
  passwordIn,
  readyBmc,
  rejectedLogins,
  secretsMadeFor,
} from '../stories/bmc-user-room.ts';

const openLab = labsOfFile();

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
