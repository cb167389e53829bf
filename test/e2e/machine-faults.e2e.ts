import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Lab } from '@metal/lab/lab.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { QemuMachine } from '@metal/simulator/qemu/qemu-machine.ts';
import { addRealMachine, openRealLab, patience } from './real-machines.ts';

let lab: Lab;
before(async () => {
  // Firmware that found nothing to boot does not hear the power button.
  const flags = ['--boot-step-deadlines=script=20s', '--power-polling-timeout=5s', '--bmc-resync-interval=10s'];
  lab = await openRealLab({ flags });
});
after(() => lab[Symbol.asyncDispose]());

/** Its script is overdue: the boot configuration, the server and an event say so. */
async function isNamed(node: Node): Promise<void> {
  await lab.bootOf(node).says('ScriptOverdue');
  const server = await lab.server(node).explains(/script did not come within 20 s; the server was powered on at/);
  await lab.tells(server, 'ScriptOverdue');
  assert.equal(node.power, 'On');
}

test('a machine that DHCP does not answer is named, and found when DHCP answers and it is tried again', async () => {
  const node = await addRealMachine(lab);
  node.machine.loseNetwork();
  await lab.plugIn(node);
  await isNamed(node);
  await node.serial.says(/No bootable device/, patience());
  node.machine.heal();
  // It would be tried again by itself when the time for the discovery is over.
  const { metadata } = await lab.bootOf(node).exists();
  await lab.client.delete(ServerBootConfiguration, metadata);
  await lab.server(node).says('Available');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);
});

test('a machine that hangs while its BMC says that it is on is named, and found when it goes on', async () => {
  const node = await addRealMachine(lab);
  node.machine.hang();
  await lab.plugIn(node);
  await isNamed(node);
  node.machine.heal();
  await lab.server(node).says('Available');
  assert.deepEqual(node.powerLog, ['On', 'Off']);
});

test('a machine with another UUID than its BMC tells is named with both, gets no orders, and is found when the BMC is right', async () => {
  const told = '11111111-2222-4333-8444-555555555555';
  const node = await addRealMachine(lab);
  const disk = (node.machine instanceof QemuMachine ? node.machine.diskFiles[0] : undefined) ?? assert.fail();
  const kept = Buffer.alloc(4_096, 'somebody may need this');
  await writeFile(disk, kept, { flag: 'r+' });
  node.bmc.reportUuid(told);
  await lab.plugIn(node);
  const { metadata } = await lab.serverOf(told).explains(/script did not come within 20 s/);
  await lab.serverOf(told).explains(new RegExp(`by system UUID ${node.uuid}, which no Server has`));
  await node.serial.says(new RegExp(`No boot script for system ${node.uuid}`), patience());
  assert.equal(lab.inventories.get(metadata.name), undefined);
  assert.deepEqual((await readFile(disk)).subarray(0, kept.length), kept);

  await node.bmc.heal();
  await lab.bmc(node).says('SystemIdentityChanged');
  await lab.client.delete(Server, metadata);
  const { metadata: found } = await lab.server(node).says('RunningServerLeftAlone');
  await lab.patchServer(found.name, { metadata: { annotations: { 'metal.ironcore.dev/allow-interruption': 'true' } } });
  await lab.server(node).says('Available');
});
