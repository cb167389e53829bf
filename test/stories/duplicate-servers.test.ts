import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import type { ClaimHandle } from '@metal/testenv/cluster/claim-handle.ts';
import { addInlineServer } from '@metal/testenv/fleet/inline-server.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const startTestenv = testenvsOfFile();

/** A tenant's running machine and its Server. */
async function claimed(testenv: Testenv, node: Node): Promise<{ claim: ClaimHandle; server: Server }> {
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const claim = await testenv.claim({ on: node, image: 'registry.test/os:1' });
  const server = await testenv.server(node).hasReason('ClaimServed');
  return { claim, server };
}

const setPower = (testenv: Testenv, { name }: ClaimHandle, power: 'On' | 'Off') =>
  testenv.client.mergePatch(ServerClaim, { name, namespace: 'default' }, { spec: { power } });

/** Condition and event of both Servers, which name each other. */
async function assertBothReport(testenv: Testenv, active: string, ignored: string): Promise<void> {
  for (const [name, other] of [
    [active, ignored],
    [ignored, active],
  ] as const) {
    await testenv.servers.named(name).hasCondition('SystemUUIDUnique', 'False');
    const { reason, message } = testenv.servers.named(name).condition('SystemUUIDUnique') ?? {};
    assert.equal(reason, 'DuplicateSystemUUID');
    assert.match(message ?? '', new RegExp(`^Server ${other} has this system UUID too`));
    await testenv.hasEvent(name, 'DuplicateSystemUUID', `Server ${other}`);
  }
  await testenv.servers.named(ignored).hasCondition('Ready', 'False');
  assert.equal(testenv.servers.named(ignored).condition('Ready')?.reason, 'DuplicateSystemUUID');
}

test('only one of two Servers with one system UUID is acted on', async (t) => {
  await using testenv = await startTestenv({ flags: ['--enforce-first-boot', '--server-resync-interval=10s'] });
  const [running, stopped] = await testenv.addNodes({ generic: 2 });
  assert.ok(running && stopped);

  await t.test(
    "a second Server for a tenant's machine does not touch it, and continues when the first is deleted",
    async () => {
      const { claim, server } = await claimed(testenv, running);
      const before = [...running.powerLog];
      const duplicate = await addInlineServer(testenv, running);
      const [first, second] = [server.metadata.name, duplicate.metadata.name];
      await assertBothReport(testenv, first, second);
      await testenv.clock.sleep(seconds(30));
      assert.deepEqual(running.powerLog, before);
      assert.equal(testenv.servers.named(first).condition('Ready')?.status, 'True');

      const unbound = await testenv.claim({ name: 'for-the-duplicate', image: 'registry.test/os:1', power: 'Off' });
      await unbound.watched.hasReason('NoServerMatches');
      await unbound.delete();
      await claim.delete();
      await claim.isGone();
      await testenv.client.delete(Server, { name: first });
      await testenv.servers.named(second).hasReason('Available');
      assert.equal(testenv.servers.named(second).condition('SystemUUIDUnique')?.status, 'True');
    },
  );

  await t.test("a second Server does not start a tenant's machine with desired power Off", async () => {
    const { claim, server } = await claimed(testenv, stopped);
    const duplicate = await addInlineServer(testenv, stopped);
    await assertBothReport(testenv, server.metadata.name, duplicate.metadata.name);
    await setPower(testenv, claim, 'Off');
    await testenv.machine(stopped).until('is off', () => stopped.power === 'Off');
    const off = [...stopped.powerLog];
    await testenv.clock.sleep(seconds(30));
    assert.deepEqual(stopped.powerLog, off, 'the machine was not started');
    await setPower(testenv, claim, 'On');
    await testenv.machine(stopped).until('is on', () => stopped.power === 'On');
    await testenv.clock.sleep(seconds(30));
    assert.deepEqual(stopped.powerLog, [...off, 'On']);
  });
});
