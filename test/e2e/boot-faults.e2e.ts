import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '@metal/controlplane/free-port.ts';
import { TcpProxy } from '@metal/testenv/proxies/tcp-proxy.ts';
import { hostAddress } from '@metal/simulator/qemu/guest-url.ts';
import { addRealMachine, startRealTestenv, timeoutSignal } from '@metal/testenv/real-testenv.ts';

/** Deadlines for firmware of real machines would take hours here. */
const deadlines = '--boot-step-deadlines=script=20s,kernel=10s,probe=10s';

test('a missing boot service at kernel download and a missing registry are reported, and the boot completes afterwards', async () => {
  const [bootPort, registryPort] = [await freePort(), await freePort()];
  await using toBoot = await TcpProxy.to(bootPort);
  await using toRegistry = await TcpProxy.to(registryPort);
  await using testenv = await startRealTestenv({
    flags: [
      deadlines,
      `--boot-port=${bootPort}`,
      `--boot-url=http://${hostAddress}:${toBoot.port}`,
      `--registry-port=${registryPort}`,
      `--registry-url=http://${hostAddress}:${toRegistry.port}`,
    ],
  });
  const node = await addRealMachine(testenv);
  const kernelRequested = toBoot.stopAt(/^GET \/boot\/\S+\/kernel /, 'closed');
  await testenv.plugIn(node);
  await kernelRequested;
  await testenv.bootOf(node).hasReason('KernelOverdue');
  const message = /kernel did not come within 10 s; it fetched its boot script at /;
  const { metadata } = await testenv.server(node).hasMessage(message);
  await testenv.hasEvent(metadata.name, 'KernelOverdue');
  await node.serial.waitForLine(/Could not boot .*, trying again/, timeoutSignal());

  const reported = toRegistry.stopAt(/^POST \/register /, 'held');
  toBoot.open();
  await reported;
  await testenv.bootOf(node).hasReason('ProbeOverdue');
  toRegistry.open();
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(node.powerLog, ['On', 'Off'], 'all steps belong to one boot');
});
