import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '@metal/controlplane/free-port.ts';
import { Road } from '@metal/lab/road.ts';
import { hostAddress } from '@metal/simulator/qemu/guest-url.ts';
import { addRealMachine, openRealLab, patience } from './real-machines.ts';

/** Whoever would follow a machine with patience for firmware would wait for hours here. */
const deadlines = '--boot-step-deadlines=script=20s,kernel=10s,probe=10s';

test('a boot service that is gone when a kernel is loaded, and a registry that hears no report, are named, and the boot goes on', async () => {
  const [bootPort, registryPort] = [await freePort(), await freePort()];
  await using toBoot = await Road.to(bootPort);
  await using toRegistry = await Road.to(registryPort);
  await using lab = await openRealLab({
    flags: [
      deadlines,
      `--boot-port=${bootPort}`,
      `--boot-url=http://${hostAddress}:${toBoot.port}`,
      `--registry-port=${registryPort}`,
      `--registry-url=http://${hostAddress}:${toRegistry.port}`,
    ],
  });
  const node = await addRealMachine(lab);
  const kernelAsked = toBoot.stopAt(/^GET \/boot\/\S+\/kernel /, 'closed');
  await lab.plugIn(node);
  await kernelAsked;
  await lab.bootOf(node).says('KernelOverdue');
  const why = /kernel did not come within 10 s; it fetched its boot script at .*, nothing since/;
  const { metadata } = await lab.server(node).explains(why);
  await lab.tells(metadata.name, 'KernelOverdue');
  await node.serial.says(/Could not boot .*, trying again/, patience());

  const reported = toRegistry.stopAt(/^POST \/register /, 'held');
  toBoot.open();
  await reported;
  await lab.bootOf(node).says('ProbeOverdue');
  toRegistry.open();
  await lab.server(node).says('Available');
  assert.deepEqual(node.powerLog, ['On', 'Off'], 'all of it was one boot');
});
