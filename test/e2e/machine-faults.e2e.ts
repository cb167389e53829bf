import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Testenv } from '@metal/testenv/testenv.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { QemuMachine } from '@metal/simulator/qemu/qemu-machine.ts';
import { addRealMachine, startRealTestenv, timeoutSignal } from '@metal/testenv/real-testenv.ts';

let testenv: Testenv;
before(async () => {
  // Firmware without a bootable device does not handle the power button.
  const flags = ['--boot-step-deadlines=script=20s', '--power-polling-timeout=5s', '--bmc-resync-interval=10s'];
  testenv = await startRealTestenv({ flags });
});
after(() => testenv[Symbol.asyncDispose]());

/** Its script is overdue: the boot configuration, the server and an event report it. */
async function isNamed(node: Node): Promise<void> {
  await testenv.bootOf(node).hasReason('ScriptOverdue');
  const server = await testenv.server(node).hasMessage(/script did not come within 20 s; the server was powered on at/);
  await testenv.hasEvent(server, 'ScriptOverdue');
  assert.equal(node.power, 'On');
}

test('a machine without a DHCP answer is reported, and discovered on the next attempt with DHCP', async () => {
  const node = await addRealMachine(testenv);
  node.machine.loseNetwork();
  await testenv.plugIn(node);
  await isNamed(node);
  await node.serial.waitForLine(/No bootable device/, timeoutSignal());
  node.machine.heal();
  // The operator would retry when the discovery times out.
  const { metadata } = await testenv.bootOf(node).exists();
  await testenv.client.delete(ServerBootConfiguration, metadata);
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);
});

test('a machine that hangs while its BMC reports On is reported, and discovered after it continues', async () => {
  const node = await addRealMachine(testenv);
  node.machine.hang();
  await testenv.plugIn(node);
  await isNamed(node);
  node.machine.heal();
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(node.powerLog, ['On', 'Off']);
});

test('a machine with another UUID than its BMC reports is named with both, boots nothing, and is discovered once they agree', async () => {
  const reportedUuid = '11111111-2222-4333-8444-555555555555';
  const node = await addRealMachine(testenv);
  const disk = (node.machine instanceof QemuMachine ? node.machine.diskFiles[0] : undefined) ?? assert.fail();
  const kept = Buffer.alloc(4_096, 'data of a tenant');
  await writeFile(disk, kept, { flag: 'r+' });
  node.bmc.reportUuid(reportedUuid);
  await testenv.plugIn(node);
  const { metadata } = await testenv.servers.withUuid(reportedUuid).hasMessage(/script did not come within 20 s/);
  await testenv.servers.withUuid(reportedUuid).hasMessage(/; a machine with an unknown UUID asked/);
  await node.serial.waitForLine(new RegExp(`No boot script for system ${node.uuid}`), timeoutSignal());
  assert.equal(testenv.inventories.get(metadata.name), undefined);
  assert.deepEqual((await readFile(disk)).subarray(0, kept.length), kept);

  await node.bmc.heal();
  await testenv.bmc(node).hasReason('SystemIdentityChanged');
  await testenv.client.delete(Server, metadata);
  const { metadata: found } = await testenv.server(node).hasReason('RunningServerLeftAlone');
  await testenv.servers.patch(found.name, {
    metadata: { annotations: { 'metal.ironcore.dev/allow-interruption': 'true' } },
  });
  await testenv.server(node).hasReason('Available');
});
