import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { seconds } from '@metal/kube/decide.ts';
import type { ClaimHandle } from '@metal/lab/claim-handle.ts';
import { addInlineServer } from '@metal/lab/inline-server.ts';
import { type Lab, labsOfFile } from '@metal/lab/lab.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const openLab = labsOfFile();

/** A tenant's machine that runs, and its Server. */
async function claimed(lab: Lab, node: Node): Promise<{ claim: ClaimHandle; server: Server }> {
  await lab.plugIn(node);
  await lab.server(node).says('Available');
  const claim = await lab.claim({ on: node, image: 'registry.test/os:1' });
  const server = await lab.server(node).says('ClaimServed');
  return { claim, server };
}

const setPower = (lab: Lab, { name }: ClaimHandle, power: 'On' | 'Off') =>
  lab.client.mergePatch(ServerClaim, { name, namespace: 'default' }, { spec: { power } });

/** Condition and event of both Servers, which name each other. */
async function bothSayIt(lab: Lab, actedOn: string, leftAlone: string): Promise<void> {
  for (const [name, other] of [
    [actedOn, leftAlone],
    [leftAlone, actedOn],
  ] as const) {
    await lab.serverNamed(name).has('SystemUUIDUnique', 'False');
    const { reason, message } = lab.serverNamed(name).condition('SystemUUIDUnique') ?? {};
    assert.equal(reason, 'DuplicateSystemUUID');
    assert.match(message ?? '', new RegExp(`^Server ${other} has this system UUID too`));
    await lab.tells(name, 'DuplicateSystemUUID', `Server ${other}`);
  }
  await lab.serverNamed(leftAlone).has('Ready', 'False');
  assert.equal(lab.serverNamed(leftAlone).condition('Ready')?.reason, 'DuplicateSystemUUID');
}

test('of two Servers for one machine only one is acted on', async (t) => {
  await using lab = await openLab({ flags: ['--enforce-first-boot', '--server-resync-interval=10s'] });
  const [running, stopped] = await lab.rack({ generic: 2 });
  assert.ok(running && stopped);

  await t.test(
    "a second Server for a tenant's machine does not touch it, and goes on when the first is gone",
    async () => {
      const { claim, server } = await claimed(lab, running);
      const before = [...running.powerLog];
      const duplicate = await addInlineServer(lab, running);
      const [first, second] = [server.metadata.name, duplicate.metadata.name];
      await bothSayIt(lab, first, second);
      await lab.clock.sleep(seconds(30));
      assert.deepEqual(running.powerLog, before);
      assert.equal(lab.serverNamed(first).condition('Ready')?.status, 'True');

      const refused = await lab.claim({ name: 'for-the-duplicate', image: 'registry.test/os:1', power: 'Off' });
      await refused.subject.says('NoServerMatches');
      await refused.delete();
      await claim.delete();
      await claim.isGone();
      await lab.client.delete(Server, { name: first });
      await lab.serverNamed(second).says('Available');
      assert.equal(lab.serverNamed(second).condition('SystemUUIDUnique')?.status, 'True');
    },
  );

  await t.test("a second Server does not start a tenant's machine that is to be off", async () => {
    const { claim, server } = await claimed(lab, stopped);
    const duplicate = await addInlineServer(lab, stopped);
    await bothSayIt(lab, server.metadata.name, duplicate.metadata.name);
    await setPower(lab, claim, 'Off');
    await lab.machine(stopped).until('is off', () => stopped.power === 'Off');
    const off = [...stopped.powerLog];
    await lab.clock.sleep(seconds(30));
    assert.deepEqual(stopped.powerLog, off, 'nobody starts it');
    await setPower(lab, claim, 'On');
    await lab.machine(stopped).until('is on', () => stopped.power === 'On');
    await lab.clock.sleep(seconds(30));
    assert.deepEqual(stopped.powerLog, [...off, 'On']);
  });
});
