import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { addInlineServer } from '@metal/testenv/fleet/inline-server.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Vendor } from '@metal/simulator/profiles.ts';

const startTestenv = testenvsOfFile();
const password = 'another-one';

/** How the operator gets to know a BMC: the object that carries the rejected login, and its BMCSecret. */
interface Setup {
  readonly restarts: readonly Vendor[];
  /** Returns the name of the BMCSecret. */
  readonly add: (testenv: Testenv, node: Node) => Promise<string>;
  /** Waits for the object with its rejected login. */
  readonly rejected: (testenv: Testenv, node: Node) => Promise<BMC | Server>;
  /** Waits for a login. */
  readonly accepted: (testenv: Testenv, node: Node) => Promise<BMC | Server>;
  readonly now: (testenv: Testenv, node: Node) => Promise<BMC | Server>;
}

const setups: Readonly<Record<string, Setup>> = {
  'a BMC': {
    restarts: ['dell', 'hpe', 'generic'],
    add: async (testenv, node) => {
      await testenv.plugIn(node);
      return node.name;
    },
    rejected: (testenv, node) => testenv.bmc(node).hasReason('AuthenticationFailed'),
    accepted: (testenv, node) => testenv.bmc(node).reaches('Enabled'),
    now: (testenv, node) => testenv.bmc(node).exists(),
  },
  'an inline BMC': {
    restarts: ['dell', 'hpe'],
    add: async (testenv, node) => (await addInlineServer(testenv, node)).metadata.name,
    // The BMCSecret may be converted first; its new version is recorded with the rejection.
    rejected: (testenv, node) =>
      testenv.server(node).until('is rejected', ({ status }) => status?.rejectedLogin !== undefined),
    accepted: (testenv, node) => testenv.server(node).reaches('Discovery'),
    now: (testenv, node) => testenv.server(node).exists(),
  },
};

for (const [title, setup] of Object.entries(setups)) {
  test(`a wrong password of ${title} is tried once over all operator restarts, and a corrected one at once`, async () => {
    await using testenv = await startTestenv({ operator: 'none', speed: 1 });
    const node = await testenv.fleet.add({ vendor: 'lenovo', password });
    const first = await testenv.startOperatorProcess();
    const secretName = await setup.add(testenv, node);
    const { metadata, status } = await setup.rejected(testenv, node);
    assert.equal(status?.rejectedLogin?.address, node.bmc.url);
    assert.doesNotMatch(JSON.stringify(status), /fleet-password|another-one/);
    await first.kill();

    await restart(testenv, setup);
    assert.equal(node.bmc.access.failedLogins, 1);
    const { resourceVersion } = (await setup.now(testenv, node)).metadata;
    assert.equal(resourceVersion, metadata.resourceVersion, 'nothing new is reported');

    await testenv.secrets.setTexts(secretName, { password });
    await using _last = await testenv.startOperatorProcess();
    const { status: accepted } = await setup.accepted(testenv, node);
    assert.equal(accepted?.rejectedLogin, undefined);
    assert.equal(node.bmc.access.failedLogins, 1);
  });
}

/** Starts one operator after the other, each until it has handled a new machine, which it does after the existing ones. */
async function restart(testenv: Testenv, { restarts, add, accepted }: Setup): Promise<void> {
  for (const vendor of restarts) {
    await using _next = await testenv.startOperatorProcess();
    const [newcomer] = await testenv.addNodes({ [vendor]: 1 });
    assert.ok(newcomer);
    await add(testenv, newcomer);
    await accepted(testenv, newcomer);
  }
}
