import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { addRealMachine, discoveryImage, startRealTestenv } from '@metal/testenv/real-testenv.ts';

test('an empty machine boots the discovery image from the network, reports over TLS, and is Available and off', async (t) => {
  await using testenv = await startRealTestenv({ secure: true });
  const node = await addRealMachine(testenv, { disks: [{ kind: 'virtio' }, { kind: 'nvme', bytes: 128 * 2 ** 20 }] });
  await testenv.plugIn(node);
  await testenv.machine(node).until('is on', () => node.power === 'On');
  const poweredOnAt = performance.now();
  const server = await testenv.server(node).until('reported', ({ status }) => status?.state === 'Available');
  t.diagnostic(`report ${((performance.now() - poweredOnAt) / 1_000).toFixed(1)} s after the power-on`);
  for (const name of ['vmlinuz', 'initrd'])
    t.diagnostic(`${name}: ${((await stat(join(discoveryImage, name))).size / 1e6).toFixed(1)} MB`);
  await testenv.server(node).hasReason('Available');
  assert.equal(node.power, 'Off');
  assert.deepEqual(node.powerLog, ['On', 'Off']);

  const { spec } = await testenv.inventoryOf(node).exists();
  const { uuid, serialNumber, disks, nics } = node.machine.hardware;
  assert.equal(spec.systemUUID, uuid.toLowerCase());
  const { systemInfo, storage, networkInterfaces, memory, cpu } = spec.report;
  assert.equal(systemInfo.systemInformation.uuid.toLowerCase(), uuid.toLowerCase());
  assert.equal(systemInfo.systemInformation.serialNumber, serialNumber);
  assert.deepEqual(
    storage.map(({ serial, sizeBytes }) => `${serial} ${sizeBytes}`).toSorted(),
    disks.map((disk) => `${disk.serialNumber} ${disk.bytes}`).toSorted(),
  );
  assert.deepEqual(
    networkInterfaces.map(({ macAddress }) => macAddress.toLowerCase()),
    nics.map(({ macAddress }) => macAddress.toLowerCase()),
  );
  assert.equal(
    memory.reduce((sum, { size }) => sum + size, 0),
    768 * 2 ** 20,
  );
  assert.equal(cpu[0]?.totalCores, 1);
  assert.equal(server.spec.bootConfigurationRef?.name ?? server.metadata.name, server.metadata.name);
});
