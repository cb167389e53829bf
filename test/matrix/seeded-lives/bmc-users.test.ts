import assert from 'node:assert/strict';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import { fleetCredentials } from '@metal/simulator/fleet-credentials.ts';
import type { LifeRun } from '@metal/testenv/operator/life-run.ts';
import { type Life, testLives } from '@metal/testenv/operator/lives.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import {
  accountOf,
  createUser,
  effective,
  passwordIn,
  rejectedLogins,
  secretsMadeFor,
} from '../../fixtures/bmc-user-fixture.ts';

const startTestenv = testenvsOfFile();
const environment = { stepMs: 200, flags: () => [] };

const nameOf = ({ node }: LifeRun): string => `${node.name}-ada`;
const userOf = (run: LifeRun) => run.testenv.users.named(nameOf(run));
const isNamed = (run: LifeRun): boolean => userOf(run).now?.spec.bmcSecretRef !== undefined;

async function becomesEnabled({ testenv, node }: LifeRun): Promise<void> {
  await testenv.plugIn(node);
  await testenv.bmc(node).reaches('Enabled');
}

const create = (run: LifeRun, spec: Partial<BMCUser['spec']> = {}): Promise<BMCUser> =>
  createUser(run.testenv, run.node, spec, nameOf(run));

/** The BMC is reached with the password of the BMCUser. */
async function isReachedAs(run: LifeRun, bmcSecret: string): Promise<void> {
  const { testenv, node } = run;
  await testenv
    .bmc(node)
    .until(
      'is Enabled with the BMCSecret of the BMCUser',
      ({ spec, status }) => spec.bmcSecretRef.name === bmcSecret && status?.state === 'Enabled',
    );
  assert.equal(node.bmc.password, await passwordIn(testenv, bmcSecret));
  assert.ok(rejectedLogins(node) <= run.operator.kills, 'each operator tried the old password at most once');
}

const another: Life = {
  title: 'a BMCUser',
  begin: becomesEnabled,
  live: async (run) => {
    const { node } = run;
    // The operator has time to be killed while it waits for the BMC.
    node.bmc.latency(300, { path: '/AccountService' });
    await create(run);
    await userOf(run).hasReason('PasswordVerified');
  },
  verify: async (run) => {
    const { testenv, node, operator } = run;
    const user = await userOf(run).hasReason('PasswordVerified');
    assert.equal(accountOf(node)?.password, await passwordIn(testenv, effective(user)));
    assert.ok(rejectedLogins(node) <= operator.kills, `${rejectedLogins(node)} rejected logins`);
    assert.equal((await secretsMadeFor(testenv, user)).length, 1);
    assert.equal(node.bmc.access.accounts.filter(({ username }) => username === 'ada').length, 1);
  },
  faultPoints: {
    'the BMCSecret exists': isNamed,
    'a request about the account is under way': (run) => isNamed(run) && run.node.bmc.traffic.inFlight > 0,
    'the BMC has the password': ({ node }) => accountOf(node) !== undefined,
    'the login is verified': ({ node }) => node.bmc.sessions.some(({ username }) => username === 'ada'),
    'the BMCUser is ready': (run) => userOf(run).showsReason('PasswordVerified'),
  },
};

const own: Life = {
  title: "a BMCUser of the operator's own account",
  node: { vendor: 'supermicro' },
  begin: becomesEnabled,
  live: async (run) => {
    await create(run, { userName: run.node.bmc.username, roleID: 'Administrator' });
    await userOf(run).hasReason('PasswordVerified');
  },
  verify: async (run) => isReachedAs(run, effective(await userOf(run).hasReason('PasswordVerified'))),
  outcome: 'recovers its access',
  faultPoints: { 'it has rotated its own password': ({ node }) => node.bmc.password !== fleetCredentials.password },
};

/** With rejected credentials, and a BMCUser that has the right ones once the operator is down. */
const rejected: Life = {
  title: 'a BMC that rejects the operator',
  isNamedOnly: true,
  node: { password: 'another-one' },
  live: async (run) => {
    await run.testenv.plugIn(run.node);
    await userOf(run).hasReason('PasswordVerified');
  },
  verify: async (run) => {
    await isReachedAs(run, 'given');
    assert.equal(rejectedLogins(run.node), 1);
  },
  outcome: 'recovers with the password of a BMCUser',
  faultPoints: {
    'its credentials are rejected': {
      isReached: ({ testenv, node }) => testenv.bmc(node).showsReason('AuthenticationFailed'),
      meanwhile: async (run) => {
        const { username, password } = run.node.bmc;
        const [name, secret] = [username, password].map((text) => Buffer.from(text).toString('base64'));
        const data = { username: name ?? '', password: secret ?? '' };
        await run.testenv.client.create(BMCSecret, { metadata: { name: 'given' }, data });
        await create(run, { userName: username, roleID: 'Administrator', bmcSecretRef: { name: 'given' } });
      },
    },
  },
};

testLives(startTestenv, {
  outcome: 'sets one password, and logs in with it',
  environment,
  lives: [another, own, rejected],
});
