import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MachineNetwork, machineNetworkBlocker } from '@metal/testenv/network/machine-network.ts';
import { addRealMachine, startRealTestenv } from '@metal/testenv/real-testenv.ts';

const blocker = await machineNetworkBlocker();
const options = blocker === undefined ? {} : { skip: blocker };

/** Each boot path into the discovery image: the first downloads, and the boot target. */
const ways = [
  {
    title: 'UEFI loads a UKI over HTTP, which finds its boot URL by DHCP',
    image: 'discovery-uki',
    boot: { method: 'UefiHttp', override: 'UefiHttp' },
    cards: 2,
    steps: ['dhcp', 'uki', 'ignition'],
  },
  {
    title: 'UEFI loads iPXE by TFTP, and iPXE its script',
    image: 'discovery',
    boot: { method: 'iPXE', override: 'Pxe' },
    cards: 1,
    steps: ['dhcp', 'script', 'kernel', 'initrd', 'ignition'],
  },
  {
    title: 'UEFI that boots over HTTP alone loads iPXE by HTTP, and iPXE its script',
    image: 'discovery',
    boot: { method: 'iPXE', override: 'UefiHttp' },
    cards: 1,
    quirks: { bootTargets: ['None', 'UefiHttp', 'Hdd'] },
    steps: ['dhcp', 'script', 'kernel', 'initrd', 'ignition'],
  },
] as const;

for (const { title, image, boot: expected, cards, steps, ...machineOptions } of ways) {
  test(`an empty machine is discovered: ${title}`, options, async (t) => {
    await using network = await MachineNetwork.open();
    const flags = [...network.dhcpFlags, `--probe-os-image=${image}`];
    await using testenv = await startRealTestenv({ host: network.host, flags });
    const nics = [];
    while (nics.length < cards) nics.push({ tap: await network.port(), rom: false });
    const node = await addRealMachine(testenv, { firmware: 'OVMF', nics }, machineOptions);
    await testenv.plugIn(node);
    await testenv.machine(node).until('is on', () => node.power === 'On');
    const poweredOnAt = performance.now();
    const since = () => `${((performance.now() - poweredOnAt) / 1_000).toFixed(1)} s after the power-on`;

    const { status } = await testenv.bootOf(node).until('is prepared', (boot) => boot.status?.state === 'Ready');
    assert.equal(status?.boot?.method, expected.method);
    assert.equal(node.boots[0]?.override, expected.override);

    await testenv.server(node).until('reported', (seen) => seen.status?.state === 'Available');
    t.diagnostic(`report ${since()}`);
    // Its report came so soon that the last steps were not written to the status.
    assert.deepEqual(await testenv.bootSteps(), [...steps, 'probe']);
    await testenv.server(node).hasReason('Available');
    assert.deepEqual(node.powerLog, ['On', 'Off']);
    const { report } = (await testenv.inventoryOf(node).exists()).spec;
    assert.deepEqual(
      report.networkInterfaces.map(({ macAddress }) => macAddress.toLowerCase()).toSorted(),
      node.machine.hardware.nics.map(({ macAddress }) => macAddress),
    );
    assert.equal(report.boot?.mode, 'UEFI');
  });
}
