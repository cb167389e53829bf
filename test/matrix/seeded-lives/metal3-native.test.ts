import assert from 'node:assert/strict';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { detachedAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { mbrImage } from '@metal/probe/test/disk-fixture.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import { type Life, testLives } from '@metal/testenv/operator/lives.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { followHosts, namespace, nativeFlags } from '../../fixtures/metal3-native-fixture.ts';

const startTestenv = testenvsOfFile();
const disk = 'nvme1n1';
const image = mbrImage();

/** From the registration to the deletion, with an image in between. */
const provisioned: Life = {
  title: 'a host',
  live: async (run) => {
    const { testenv, node, images } = run;
    const { name } = node;
    await using native = await followHosts(testenv, images);
    const { hosts } = native;
    run.faultPoints.follow(hosts);
    const claims = new Set<string | undefined>();
    using _claims = testenv.claims.onChange(({ after }) => {
      if (after?.metadata.name === name) claims.add(after.metadata.uid);
    });
    const { disks } = simulated(node);

    const host = await native.host(node, name, { rootDeviceHints: { deviceName: `/dev/${disk}` } });
    await host.reaches('available');
    assert.equal(disks.writesTo(disk), 0);
    await hosts.patch(name, { spec: { image: native.served(image) } });
    await host.reaches('provisioned');
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    await testenv.machine(node).until('runs from its disk', () => node.running?.from === 'disk');
    assert.ok(disks.read(disk, 512, image.length - 512).equals(image.subarray(512)));
    await hosts.patch(name, { spec: { image: null } });
    const free = await host.reaches('available');
    assert.equal(free.status?.errorMessage, '');
    assert.equal(claims.size, 1, 'one claim, thus one deployment');
    assert.ok(disks.read(disk, 0, image.length).every((byte) => byte === 0));
    await testenv.client.delete(BareMetalHost, { namespace, name });
    await host.isGone();
    assert.equal(node.machine.power, 'Off');
  },
};

/** A machine that runs already is taken over, turned off and on, and given back, detached: only its power has changed. */
const inUse: Life = {
  title: 'an externally provisioned host',
  node: { inUse: true },
  live: async (run) => {
    const { testenv, node, images } = run;
    const { name } = node;
    await using native = await followHosts(testenv, images);
    const { hosts } = native;
    run.faultPoints.follow(hosts);

    const host = await native.host(node, name, { externallyProvisioned: true });
    await host.reaches('externally provisioned');
    await native.serverOf(name).hasReason('ClaimServed');
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    assert.deepEqual([node.power, node.boots.length], ['On', 0]);
    await hosts.patch(name, { spec: { online: false } });
    await host.until('is off', ({ status }) => status?.poweredOn === false);
    await hosts.patch(name, { spec: { online: true } });
    await host.until('is on again', ({ status }) => status?.poweredOn === true);
    await hosts.patch(name, { metadata: { annotations: { [detachedAnnotation]: '' } } });
    await host.until('is detached', ({ status }) => status?.operationalStatus === 'detached');
    await testenv.client.delete(BareMetalHost, { namespace, name });
    await host.isGone();
    await testenv.untilStable(10_000);
  },
  verify: ({ node }) => {
    assert.deepEqual([node.power, node.boots.map(({ from }) => from)], ['On', ['disk']]);
    assert.notEqual(simulated(node).installed, undefined);
    return Promise.resolve();
  },
};

const testHosts = (life: Life, outcome: string, ...flags: string[]): void =>
  testLives(startTestenv, {
    outcome,
    environment: {
      stepMs: 100,
      timeoutMs: 300_000,
      metal3: true,
      flags: (images) => [...nativeFlags(images), '--power-polling-interval=1s', ...flags],
    },
    lives: [life],
    rackSize: 10,
  });

testHosts(provisioned, 'repeats nothing of a host');
testHosts(inUse, 'cleans and restarts nothing of an externally provisioned host', '--cleanup-disks=Metadata');
