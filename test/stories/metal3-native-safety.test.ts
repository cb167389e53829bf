import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { detachedAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { operationAnnotation } from '@metal/api/wire/contract.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { gptImage, mbrImage } from '@metal/probe/test/disk-fixture.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { reportsOf } from '../fixtures/cleanup-fixture.ts';
import { base64, namespace, type NativeTestenv, startNativeTestenv } from '../fixtures/metal3-native-fixture.ts';

const startTestenv = testenvsOfFile();
const rootDeviceHints = { deviceName: '/dev/nvme1n1' };
const hostTaints = [{ key: 'metal3.io/host', effect: 'NoBind' }];

suite('The machine of a BareMetalHost on the native provisioner', () => {
  let native: NativeTestenv;
  before(async () => {
    native = await startNativeTestenv(startTestenv);
  });
  after(async () => native[Symbol.asyncDispose]());

  async function newNode(): Promise<Node> {
    const [node] = await native.testenv.addNodes({ generic: 1 });
    assert.ok(node);
    return node;
  }

  /** Its Server exists before any host. */
  async function knownNode(cleanup?: 'Purge'): Promise<Node> {
    const node = await newNode();
    await native.testenv.plugIn(node);
    const { metadata } = await native.testenv.server(node).hasReason('Available');
    if (cleanup !== undefined)
      await native.testenv.servers.patch(metadata.name, { spec: { cleanup: { disks: cleanup } } });
    return node;
  }

  async function provisioned(node: Node, name: string, spec: Partial<BareMetalHost['spec']> = {}) {
    const host = await native.host(node, name, { image: native.served(mbrImage()), rootDeviceHints, ...spec });
    await host.reaches('provisioned');
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    return host;
  }

  const remove = (name: string) => native.testenv.client.delete(BareMetalHost, { namespace, name });
  const claimOf = (name: string) => native.testenv.client.get(ServerClaim, { namespace, name });
  const writesOf = (node: Node) =>
    simulated(node).disks.writesTo('nvme0n1') + simulated(node).disks.writesTo('nvme1n1');

  test('a Server that existed before is marked, used, and stays with its taint and its former policy of cleanups', async () => {
    const node = await knownNode();
    const host = await provisioned(node, 'known');
    const server = native.testenv.server(node);
    assert.deepEqual(server.now?.spec.taints, hostTaints);
    assert.match(server.now?.metadata.annotations?.['metal3.io/host'] ?? '', /^default\/known /);
    await remove('known');
    await host.isGone();
    const { metadata, spec } = await server.hasReason('Available');
    assert.deepEqual(spec.taints, hostTaints);
    assert.equal(spec.cleanup?.disks, undefined);
    assert.deepEqual(
      Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith('metal3.io/')),
      [],
    );
    assert.deepEqual(
      (await reportsOf(native.testenv, metadata.name)).map(({ spec: { mode } }) => mode),
      ['Metadata'],
    );
  });

  test('without automated cleaning nothing is erased, and the policy of the Server is back afterwards', async () => {
    const node = await knownNode('Purge');
    const host = await provisioned(node, 'uncleaned', { automatedCleaningMode: 'disabled' });
    const writes = writesOf(node);
    await remove('uncleaned');
    await host.isGone();
    const { metadata, spec } = await native.testenv.server(node).hasReason('Available');
    assert.equal(spec.cleanup?.disks, 'Purge');
    assert.deepEqual(await reportsOf(native.testenv, metadata.name), []);
    assert.equal(writesOf(node), writes);
    assert.ok(simulated(node).disks.read('nvme1n1', 512, 1_024).equals(mbrImage().subarray(512, 1_536)));
    assert.equal(node.machine.power, 'Off');
  });

  test('a detached host leaves its machine alone, and is taken back as it is', async () => {
    const node = await newNode();
    const host = await provisioned(node, 'detached');
    const { length: boots } = node.boots;
    const server = native.serverOf('detached');
    await native.hosts.patch('detached', { metadata: { annotations: { [detachedAnnotation]: '' } } });
    await host.until('is detached', ({ status }) => status?.operationalStatus === 'detached');
    const { annotations = {} } = server.now?.metadata ?? {};
    assert.deepEqual([annotations[operationAnnotation], annotations['metal3.io/detached']], ['ignore', 'true']);
    await native.hosts.patch('detached', { metadata: { annotations: { [detachedAnnotation]: null } } });
    await host.until('is managed again', ({ status }) => status?.operationalStatus === 'OK');
    await server.until('is not ignored', ({ metadata }) => metadata.annotations?.[operationAnnotation] === undefined);
    assert.equal(host.now?.status?.provisioning.state, 'provisioned');
    assert.equal(node.boots.length, boots);
  });

  test('a host that is deleted while it is detached leaves its machine running, with its claim', async () => {
    const node = await newNode();
    const host = await provisioned(node, 'left');
    const writes = writesOf(node);
    const { metadata } = native.serverOf('left').now ?? {};
    await native.hosts.patch('left', { metadata: { annotations: { [detachedAnnotation]: '' } } });
    await host.until('is detached', ({ status }) => status?.operationalStatus === 'detached');
    await remove('left');
    await host.isGone();
    const claim = await claimOf('left');
    assert.deepEqual([claim.metadata.ownerReferences ?? [], claim.metadata.deletionTimestamp], [[], undefined]);
    const server = native.testenv.servers.get(metadata?.name ?? '');
    assert.equal(server?.spec.serverClaimRef?.name, 'left');
    assert.equal(server?.metadata.annotations?.[operationAnnotation], 'ignore');
    assert.deepEqual([node.machine.power, writesOf(node)], ['On', writes]);
    assert.deepEqual(await reportsOf(native.testenv, metadata?.name ?? ''), []);
  });

  test('user data without content is refused before anything is claimed, and that of another namespace at admission', async () => {
    const node = await newNode();
    const data = { other: base64('text') };
    await native.testenv.client.create(Secret, { metadata: { name: 'incomplete', namespace }, data });
    const userData = { name: 'incomplete', namespace };
    const host = await native.host(node, 'unread', { image: native.served(mbrImage()), rootDeviceHints, userData });
    const { status } = await host.until('has failed', ({ status: now }) => now?.errorType === 'provisioning error');
    assert.match(status?.errorMessage ?? '', /Secret incomplete has neither the key userData nor the key value/);
    await assert.rejects(claimOf('unread'), /not found/i);
    assert.deepEqual([node.machine.power, writesOf(node)], ['Off', 0]);
    const foreign = { userData: { name: 'incomplete', namespace: 'kube-system' } };
    await assert.rejects(native.hosts.patch('unread', { spec: foreign }), /Secrets of other namespaces/);
  });

  const misfits = [
    ['no-disk', 'no disk fits the hints', { rotational: true }, /RootDeviceNotFound/],
    ['two-disks', 'two disks fit the hints', { model: 'nvme' }, /RootDeviceAmbiguous/],
    ['too-large', 'the image is larger than the disk', rootDeviceHints, /ImageLargerThanDisk/],
  ] as const;
  for (const [name, what, hints, message] of misfits) {
    test(`nothing is written if ${what}, and corrected hints are used`, async () => {
      const node = await newNode();
      const host = await native.host(node, name);
      await host.reaches('available');
      if (name === 'too-large') {
        const path = '/spec/report/storage/1/sizeBytes';
        const ref = { name: native.serverOf(name).now?.metadata.name ?? '' };
        await native.testenv.client.jsonPatch(ServerInventory, ref, [{ op: 'replace', path, value: 1_048_576 }]);
      }
      const { length: boots } = node.boots;
      await native.hosts.patch(name, { spec: { image: native.served(mbrImage()), rootDeviceHints: hints } });
      const failing = await host.until('has failed', ({ status }) => status?.errorType === 'provisioning error');
      assert.match(failing.status?.errorMessage ?? '', message);
      assert.deepEqual([node.machine.power, node.boots.length, writesOf(node)], ['Off', boots, 0]);
      await native.hosts.patch(name, {
        spec: { rootDeviceHints: { rotational: null, model: null, deviceName: '/dev/nvme0n1' } },
      });
      await host.reaches('provisioned');
      assert.equal(simulated(node).disks.writesTo('nvme1n1'), 0);
    });
  }

  test('the config drive has the UID of the host, and its user data', async () => {
    const node = await newNode();
    const data = { userData: base64('#cloud-config\n') };
    await native.testenv.client.create(Secret, { metadata: { name: 'user', namespace }, data });
    const image = native.served(gptImage(), 'table.img');
    const host = await provisioned(node, 'configured', { image, userData: { name: 'user', namespace } });
    const { disks } = simulated(node);
    const entry = disks.read('nvme1n1', 1_024 + 128, 128);
    assert.equal(entry.toString('utf16le', 56, 72), 'config-2');
    const drive = disks.read('nvme1n1', Number(entry.readBigUInt64LE(32)) * 512, 100_000);
    assert.ok(drive.includes(`"uuid":"${host.now?.metadata.uid}"`));
    assert.ok(drive.includes('#cloud-config'));
  });

  test('the registration respects that a person has the Server ignored, and says so', async () => {
    const node = await knownNode();
    const { metadata } = await native.testenv.server(node).exists();
    const annotate = (operation: string | null) =>
      native.testenv.servers.patch(metadata.name, { metadata: { annotations: { [operationAnnotation]: operation } } });
    await annotate('ignore');
    const host = await native.host(node, 'ignored');
    await host.hasMessage(new RegExp(`Server ${metadata.name} has ${operationAnnotation}=ignore`));
    assert.equal(host.now?.status?.provisioning.state, 'registering');
    assert.equal(host.now.status.errorMessage, '');
    assert.equal(native.testenv.server(node).now?.metadata.annotations?.['metal3.io/host'], undefined);
    await annotate(null);
    await host.reaches('available');
  });
});
