import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import type { Testenv } from '@metal/testenv/testenv.ts';
import type { Node } from '@metal/simulator/fleet.ts';

/** Shared by the stories about BMCUsers. */

export type UserSpec = Partial<BMCUser['spec']>;

/** A BMCUser for the machine, as an administrator writes it. */
export function createUser(testenv: Testenv, { name }: Node, spec: UserSpec = {}): Promise<BMCUser> {
  return testenv.client.create(BMCUser, {
    metadata: { name: 'ada' },
    spec: { userName: 'ada', roleID: 'Operator', bmcRef: { name }, ...spec },
  });
}

export async function readyBmc(testenv: Testenv, node: Node): Promise<void> {
  await testenv.plugIn(node);
  await testenv.bmc(node).reaches('Enabled');
}

export const textOf = (secret: BMCSecret | undefined, key: string): string =>
  Buffer.from(secret?.data?.[key] ?? '', 'base64').toString();
export const passwordIn = async (testenv: Testenv, name: string): Promise<string> =>
  textOf(await testenv.client.get(BMCSecret, { name }), 'password');
export const accountOf = ({ bmc }: Node, username = 'ada') =>
  bmc.access.accounts.find((account) => account.username === username);
export const secretsMadeFor = async (testenv: Testenv, { metadata }: BMCUser): Promise<BMCSecret[]> =>
  (await testenv.client.list(BMCSecret)).items.filter(({ metadata: { ownerReferences } }) =>
    ownerReferences?.some(({ uid }) => uid === metadata.uid),
  );
export const effective = ({ status }: BMCUser): string => status?.effectiveBMCSecretRef?.name ?? '';

/** Counts every rejected login. */
export const rejectedLogins = ({ bmc }: Node): number => bmc.access.failedLogins;
