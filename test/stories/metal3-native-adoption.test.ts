import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { BareMetalHostStatus } from '@metal/api/metal3/bare-metal-host-status.ts';
import {
  detachedAnnotation,
  pausedAnnotation,
  rebootAnnotation,
  statusAnnotation,
} from '@metal/api/metal3/metal3-contract.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { operationAnnotation } from '@metal/api/wire/contract.ts';
import { mbrImage } from '@metal/probe/test/disk-fixture.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { follow, reportsOf } from '../fixtures/cleanup-fixture.ts';
import { namespace, type NativeTestenv, startNativeTestenv } from '../fixtures/metal3-native-fixture.ts';

const startTestenv = testenvsOfFile();
const externallyProvisioned = true;
const elsewhere = '5f0b1a52-0a3c-4d0e-9a3e-1c2d3e4f5a6b';
const image = { url: 'http://images.test/os.img', checksum: 'a'.repeat(64), format: 'raw' } as const;

suite('Machines in use of BareMetalHosts on the native provisioner', () => {
  let native: NativeTestenv;
  before(async () => {
    native = await startNativeTestenv(startTestenv, ['--cleanup-disks=Metadata']);
  });
  after(async () => native[Symbol.asyncDispose]());

  /** On, with a system on its disk. */
  async function runningNode(): Promise<Node> {
    const node = await native.testenv.fleet.add({ vendor: 'generic', inUse: true });
    native.testenv.timeline.follow(node);
    return node;
  }

  /** Requests to the BMC that change something. */
  const changesOf = ({ bmc }: Node): string[] =>
    bmc.requests
      .filter(({ method, path }) => method !== 'GET' && !path.includes('/SessionService'))
      .map(({ method, path }) => `${method} ${path}`);
  const bmcsOf = ({ bmc }: Node) =>
    [...native.testenv.bmcs.all()].filter(({ spec }) => spec.access?.ip === bmc.address);
  const remove = (name: string) => native.testenv.client.delete(BareMetalHost, { namespace, name });
  const claimOf = (name: string) => native.testenv.client.find(ServerClaim, { namespace, name });

  async function external(node: Node, name: string) {
    const host = await native.host(node, name, { externallyProvisioned });
    await host.reaches('externally provisioned');
    await native.serverOf(name).hasReason('ClaimServed');
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    return host;
  }

  test('an externally provisioned host takes its machine over as it is, controls its power, and never cleans it', async () => {
    const node = await runningNode();
    const host = await external(node, 'external');
    const server = native.serverOf('external');
    assert.deepEqual(changesOf(node), []);
    const { status } = host.now ?? {};
    assert.deepEqual([status?.provisioning.ID, status?.errorMessage], [server.now?.metadata.uid, '']);
    assert.equal(server.condition('Discovered')?.reason, 'Adopted');
    const claim = await claimOf('external');
    assert.deepEqual([claim?.spec.image, claim?.spec.diskImage, claim?.spec.power], ['', undefined, 'On']);
    assert.deepEqual(claim?.metadata.ownerReferences ?? [], []);

    await native.hosts.patch('external', { metadata: { annotations: { [rebootAnnotation]: '' } } });
    await native.testenv.machine(node).until('is restarted', () => node.boots.at(-1)?.from === 'disk');
    await native.hosts.patch('external', { spec: { online: false } });
    await host.until('is off', ({ status: now }) => now?.poweredOn === false);
    await native.hosts.patch('external', { spec: { online: true } });
    await host.until('is on', ({ status: now }) => now?.poweredOn === true);

    using seen = follow(native.testenv, node);
    const boots = node.boots.length;
    await remove('external');
    await host.isGone();
    assert.equal(node.machine.power, 'Off');
    assert.deepEqual([bmcsOf(node), await claimOf('external')], [[], undefined]);
    await native.testenv.servers.named(server.now?.metadata.name ?? '').isGone();
    await native.testenv.untilStable(30_000);
    assert.equal(seen.states.includes('Cleanup'), false, seen.states.join());
    assert.deepEqual([node.machine.power, node.boots.length], ['Off', boots]);
    assert.notEqual(simulated(node).installed, undefined, 'the system is still on its disk');
  });

  test('the claim of an externally provisioned host that goes without its host, as with their namespace, has nothing cleaned', async () => {
    const node = await runningNode();
    const host = await external(node, 'unclaimed');
    const server = native.serverOf('unclaimed');
    await native.testenv.client.delete(ServerClaim, { namespace, name: 'unclaimed' });
    const failing = await host.until('has lost its claim', ({ status }) => status?.errorType !== undefined);
    assert.match(failing.status?.errorMessage ?? '', /operation=adopt to take it over again/);
    const { metadata } = await server.hasReason('Available');
    assert.deepEqual([node.machine.power, await reportsOf(native.testenv, metadata.name)], ['Off', []]);
    assert.notEqual(simulated(node).installed, undefined, 'the system is still on its disk');

    await native.testenv.servers.patch(metadata.name, {
      metadata: { annotations: { [operationAnnotation]: 'adopt' } },
    });
    await native.testenv.machine(node).until('starts from its disk', () => node.boots.at(-1)?.from === 'disk');
    await host.until('has a claim again', ({ status }) => status?.errorMessage === '' && status.poweredOn);
  });

  test('an externally provisioned host that has lost its claim is cleaned when it is managed again', async () => {
    const node = await runningNode();
    const host = await external(node, 'regained');
    const server = native.serverOf('regained');
    await native.testenv.client.delete(ServerClaim, { namespace, name: 'regained' });
    await server.hasReason('Available');
    assert.notEqual(simulated(node).installed, undefined);
    await native.hosts.patch('regained', { spec: { externallyProvisioned: false } });
    await host.reaches('available');
    const { metadata, spec } = await server.exists();
    assert.deepEqual([simulated(node).installed, node.machine.power], [undefined, 'Off']);
    assert.equal((await reportsOf(native.testenv, metadata.name)).length, 1);
    assert.deepEqual(
      [spec.cleanup?.disks, metadata.annotations?.['metal3.io/former-cleanup-disks']],
      [undefined, undefined],
    );
  });

  test('an externally provisioned host that is deleted while it is detached leaves its machine on, and nothing else', async () => {
    const node = await runningNode();
    const host = await external(node, 'let-go');
    await native.hosts.patch('let-go', { metadata: { annotations: { [detachedAnnotation]: '' } } });
    await host.until('is detached', ({ status }) => status?.operationalStatus === 'detached');
    await remove('let-go');
    await host.isGone();
    assert.deepEqual([bmcsOf(node), await claimOf('let-go')], [[], undefined]);
    assert.deepEqual([changesOf(node), node.machine.power], [[], 'On']);
  });

  test('a Server that existed before stays ignored, with its claim, when its externally provisioned host is deleted', async () => {
    const node = await runningNode();
    await native.testenv.plugIn(node);
    await native.testenv.server(node).hasReason('RunningServerLeftAlone');
    const host = await external(node, 'foreign');
    assert.deepEqual(changesOf(node), []);
    await remove('foreign');
    await host.isGone();
    const { metadata, spec } = await native.testenv.server(node).exists();
    assert.deepEqual(
      [
        metadata.annotations?.[operationAnnotation],
        metadata.annotations?.['metal3.io/host'],
        spec.serverClaimRef?.name,
      ],
      ['ignore', undefined, 'foreign'],
    );
    assert.equal((await claimOf('foreign'))?.metadata.deletionTimestamp, undefined);
    assert.deepEqual([node.machine.power, await reportsOf(native.testenv, metadata.name)], ['Off', []]);
    assert.notEqual(simulated(node).installed, undefined);
  });

  test('of two machines of one BMC, the one whose externally provisioned host is deleted is held for the next host', async () => {
    const node = await native.testenv.fleet.add({ vendor: 'generic', systems: 2, inUse: true });
    const [one, two] = ['system', 'system2'].map((id) => ({
      path: `/redfish/v1/Systems/${id}`,
      externallyProvisioned,
    }));
    const first = await native.host(node, 'shared-1', one);
    const second = await native.host(node, 'shared-2', two);
    await first.reaches('externally provisioned');
    await second.reaches('externally provisioned');
    const { metadata } = await native.serverOf('shared-1').hasReason('ClaimServed');
    await native.serverOf('shared-2').hasReason('ClaimServed');
    await remove('shared-1');
    await first.isGone();
    assert.equal(await claimOf('shared-1'), undefined);
    const held = await native.testenv.servers
      .named(metadata.name)
      .until('is created anew', ({ metadata: { uid } }) => uid !== metadata.uid);
    assert.deepEqual(
      [held.metadata.annotations?.[operationAnnotation], held.metadata.annotations?.['metal3.io/host']],
      ['ignore', undefined],
    );
    await native.testenv.untilStable(30_000);
    assert.deepEqual(
      node.machines.map(({ power, boots }) => [power, boots.length]),
      [
        ['Off', 0],
        ['On', 0],
      ],
    );
    await remove('shared-2');
    await second.isGone();
    assert.deepEqual(bmcsOf(node), []);
  });

  test('a free host becomes externally provisioned, and is cleaned when it is managed again', async () => {
    const [node] = await native.testenv.addNodes({ generic: 1 });
    assert.ok(node);
    const host = await native.host(node, 'switched');
    await host.reaches('available');
    const { length: boots } = node.boots;
    await native.hosts.patch('switched', { spec: { externallyProvisioned } });
    await host.reaches('externally provisioned');
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    const { metadata } = await native.serverOf('switched').hasReason('ClaimServed');
    assert.deepEqual([node.boots.length, node.boots.at(-1)?.override], [boots + 1, undefined]);
    await native.hosts.patch('switched', { spec: { externallyProvisioned: false } });
    await host.reaches('available');
    assert.equal(await claimOf('switched'), undefined);
    assert.equal((await reportsOf(native.testenv, metadata.name)).length, 1);
    assert.equal(node.machine.power, 'Off');
  });

  type Provisioning = BareMetalHostStatus['provisioning'];
  const savedStatus = (state: Provisioning['state'], ID = elsewhere): BareMetalHostStatus => ({
    operationalStatus: 'OK',
    errorMessage: '',
    errorCount: 0,
    provisioningFailCount: 0,
    poweredOn: true,
    hardwareProfile: 'unknown',
    provisioning: { state, ID, bootMode: 'UEFI', ...(state === 'available' ? {} : { image }) },
  });

  /** A host that has this status without having brought it from another cluster. */
  async function hostWith(node: Node, name: string, status: BareMetalHostStatus) {
    const host = await native.host(node, name, { image, annotations: { [pausedAnnotation]: '' } });
    await native.testenv.client.mergePatch(
      BareMetalHost,
      { namespace, name },
      { status: { ...status, lastUpdated: '2026-01-01T00:00:00Z' } },
      { subresource: 'status' },
    );
    await native.hosts.patch(name, { metadata: { annotations: { [pausedAnnotation]: null } } });
    return host;
  }

  test('a provisioned host of another cluster is taken over without a restart, and cleaned when its image is removed', async () => {
    const node = await runningNode();
    const annotations = { [statusAnnotation]: JSON.stringify(savedStatus('provisioned')) };
    const host = await native.host(node, 'moved', { image, annotations });
    const server = native.serverOf('moved');
    const { metadata } = await server.hasReason('ClaimServed');
    await host.until('has the Server', ({ status }) => status?.provisioning.ID === metadata.uid);
    await native.testenv.untilStable(30_000);
    const { status, metadata: kept } = host.now ?? {};
    assert.deepEqual([status?.provisioning.state, status?.errorMessage], ['provisioned', '']);
    assert.deepEqual(Object.keys(kept?.annotations ?? {}), []);
    assert.deepEqual([changesOf(node), node.machine.power], [[], 'On']);

    await native.hosts.patch('moved', { spec: { image: null } });
    await host.reaches('available');
    assert.deepEqual([simulated(node).installed, node.machine.power], [undefined, 'Off']);
    assert.equal((await reportsOf(native.testenv, metadata.name)).length, 1);
  });

  test('a free host of another cluster is discovered here', async () => {
    const [node] = await native.testenv.addNodes({ generic: 1 });
    assert.ok(node);
    const annotations = { [statusAnnotation]: JSON.stringify(savedStatus('available')) };
    const host = await native.host(node, 'moved-free', { annotations });
    const { metadata } = await native.serverOf('moved-free').hasReason('Available');
    await host.until('has the Server', ({ status }) => status?.provisioning.ID === metadata.uid);
    assert.deepEqual([host.now?.status?.provisioning.state, host.now?.status?.errorMessage], ['available', '']);
  });

  test('a provisioned host that was detached from its former provisioner is taken over without a restart', async () => {
    const node = await runningNode();
    const host = await hostWith(node, 'detached-before', savedStatus('provisioned', ''));
    await native.serverOf('detached-before').hasReason('ClaimServed');
    await host.until('is on', ({ status }) => status?.poweredOn === true && status.errorMessage === '');
    assert.deepEqual([changesOf(node), host.now?.status?.provisioning.state], [[], 'provisioned']);
  });

  for (const [what, name, state, isMoved, message] of [
    ['the node of another provisioner', 'ironic', 'provisioned', false, /has the node 5f0b1a52.*detach it/],
    ['a moved host that is being cleaned', 'cleaning', 'deprovisioning', true, /is gone in state deprovisioning/],
  ] as const)
    test(`${what} is refused, and its machine left alone`, async () => {
      const node = await runningNode();
      const status = savedStatus(state);
      const annotations = { [statusAnnotation]: JSON.stringify(status) };
      const host = isMoved ? await native.host(node, name, { image, annotations }) : await hostWith(node, name, status);
      const failing = await host.until('has failed', ({ status: now }) => now?.errorType === 'registration error');
      assert.match(failing.status?.errorMessage ?? '', message);
      assert.deepEqual([node.bmc.requests.length, node.machine.power], [0, 'On']);
    });

  test('without inspection a running machine is left alone until an image is deployed to it', async () => {
    const node = await runningNode();
    const host = await native.host(node, 'uninspected', { inspectionMode: 'disabled' });
    await host.reaches('available');
    await native.serverOf('uninspected').hasReason('RunningServerLeftAlone');
    assert.deepEqual(changesOf(node), []);
    const rootDeviceHints = { deviceName: '/dev/nvme1n1' };
    await native.hosts.patch('uninspected', { spec: { image: native.served(mbrImage()), rootDeviceHints } });
    await host.reaches('provisioned');
    assert.equal(host.now?.status?.hardware, undefined);
  });
});
