import assert from 'node:assert/strict';
import { test } from 'node:test';
import { done } from '@metal/metal3/provisioner/step-result.ts';
import { startFleet } from '@metal/simulator/fleet.ts';
import { bootSector } from '@metal/simulator/qemu/boot-sector.ts';
import { startImageServer } from '@metal/testenv/network/image-server.ts';
import { startIronicFixture } from '@metal/testenv/ironic/ironic-fixture.ts';
import { bootableIso } from './el-torito.ts';

test('Ironic boots a live ISO from the virtual media of a machine, and ejects it', async () => {
  await using fixture = await startIronicFixture();
  await using images = await startImageServer();
  await using fleet = await startFleet();
  const node = await fleet.add({ machine: 'qemu' });
  const url = images.serve('live.iso', bootableIso(bootSector('the live system runs', 'obeys the power button')));

  const address = `redfish-virtualmedia+http://${node.bmc.address}:${fleet.port}/redfish/v1/Systems/${node.machine.systemId}`;
  const credentials = { username: 'admin', password: 'fleet-password' };
  const bootMACAddress = node.machine.hardware.nics[0]?.macAddress ?? '';
  const host = fixture.host({ bmc: { address, credentialsName: 'bmc' }, bootMACAddress }, { credentials });
  const image = { url, format: 'live-iso' } as const;
  host.registration = { bootMode: 'legacy', image };
  const deployment = {
    image,
    customDeploy: undefined,
    bootMode: 'legacy',
    rootDeviceHints: undefined,
    isForced: false,
    restartsAfterFailure: false,
  } as const;
  assert.deepEqual(
    await host.until((provisioner) => provisioner.provision(deployment), { state: 'provisioning' }),
    done,
  );
  await node.serial.waitForLine(/^the live system runs$/, AbortSignal.timeout(60_000));
  assert.equal(node.machine.virtualMedia?.image, url);
  const order = fixture.relay.requests.find(({ body }) => Object(body).target === 'active');
  assert.equal(Object(order?.body).configdrive, undefined);

  const services = await fixture.backEnd.servicesOf(host.host);
  assert.deepEqual(await services.readDataImage(), { isAttached: true });

  const retry = { cleaning: 'disabled', restartsAfterFailure: false } as const;
  const undeploy = host.until((provisioner) => provisioner.deprovision(retry), { state: 'deprovisioning' });
  assert.deepEqual(await undeploy, done);
  assert.deepEqual([node.power, node.machine.virtualMedia?.image], ['Off', undefined]);
});
