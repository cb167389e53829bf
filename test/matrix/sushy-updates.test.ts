import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { Bmc, Password } from '@metal/redfish/http/bmc.ts';
import { readFirmwareInventory } from '@metal/redfish/resources/firmware-inventory.ts';
import { readSystem } from '@metal/redfish/resources/systems.ts';
import { readUpdateService, startUpdate } from '@metal/redfish/resources/update-service.ts';
import { readRunningUpdates, readUpdateTask } from '@metal/redfish/resources/update-tasks.ts';
import { startSushy } from '@metal/testenv/fleet/sushy.ts';

const uuid = 'aaaaaaaa-1111-4111-8111-111111111111';
const uri = `/redfish/v1/Systems/${uuid}`;
const imageUri = 'https://images.test/bios.img';

async function openFixture() {
  const stack = new AsyncDisposableStack();
  const systems = [{ uuid, name: 'first', mac: '52:54:00:00:00:01' }];
  const sushy = stack.use(await startSushy({ systems, username: 'operator', password: 'opensesame', tls: false }));
  const endpoint = { scheme: 'http', host: '127.0.0.1', port: sushy.port } as const;
  const credentials = { username: 'operator', password: new Password('opensesame') };
  const bmc = stack.use(new Bmc({ endpoint, credentials, clock: systemClock }));
  return { bmc, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('the BIOS of a system of sushy-tools is updated, which it answers with 204 and a task', async () => {
  await using fixture = await openFixture();
  const { bmc } = fixture;
  assert.partialDeepStrictEqual(await readUpdateService(bmc), {
    canPull: true,
    transferProtocols: ['HTTP', 'HTTPS'],
    maxImageBytes: undefined,
  });
  assert.equal((await readSystem(bmc, uri)).biosVersion, '1.0.0');
  const { task } = await startUpdate(bmc, { imageUri, targets: [uri] });
  assert.equal((await readUpdateTask(bmc, task ?? '')).kind, 'Completed');
  assert.equal((await readSystem(bmc, uri)).biosVersion, '1.1.0');
});

test('an update that sushy-tools rejects fails with its explanation', async () => {
  await using fixture = await openFixture();
  const { bmc } = fixture;
  await assert.rejects(startUpdate(bmc, { imageUri }), { status: 400, message: /Targets/ });
  assert.equal((await readSystem(bmc, uri)).biosVersion, '1.0.0');
});

test('sushy-tools has no inventory of firmware and no list of tasks', async () => {
  await using fixture = await openFixture();
  assert.deepEqual(await readFirmwareInventory(fixture.bmc), []);
  assert.deepEqual(await readRunningUpdates(fixture.bmc), []);
});
