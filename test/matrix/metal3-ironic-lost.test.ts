import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { HardwareData } from '@metal/api/metal3/hardware-data.ts';
import {
  hardwareDetailsAnnotation,
  hostFinalizer,
  pausedAnnotation,
  rebootAnnotation,
  statusAnnotation,
} from '@metal/api/metal3/metal3-contract.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import type { Kind } from '@metal/kube/kinds/kind.ts';
import { type HostTestenv, startHostTestenv, withoutAdmission } from '@metal/testenv/metal3/host-testenv.ts';
import { type IronicFixture, startIronicFixture } from '@metal/testenv/ironic/ironic-fixture.ts';
import type { RelayFault } from '@metal/testenv/ironic/ironic-relay.ts';

const namespace = 'default';
const image = { url: 'http://images.test/os.raw', checksum: 'a'.repeat(64), format: 'raw' } as const;
const unavailable: RelayFault = { kind: 'answer', status: 503, body: '{}' };

suite('BareMetalHosts whose Ironic fails', () => {
  let testenv: HostTestenv;
  let fixture: IronicFixture;
  let count = 0;
  before(async () => {
    fixture = await startIronicFixture();
    testenv = await startHostTestenv({ speed: 10, timeoutMs: 120_000, open: withoutAdmission });
    const flags = { 'metal3-provisioner': 'ironic', 'max-provisioning-retries': '2' };
    await testenv.start(flags, { backEnd: fixture.backEnd });
  });
  afterEach(() => fixture.relay.setFault(() => undefined));
  after(async () => {
    await testenv?.[Symbol.asyncDispose]();
    await fixture?.[Symbol.asyncDispose]();
  });

  async function create(name: string, spec: Partial<BareMetalHost['spec']> = {}, annotations = {}) {
    count += 1;
    await testenv.host(name, {
      metadata: { annotations },
      spec: {
        bmc: { address: `fake://${name}`, credentialsName: `${name}-bmc` },
        bootMACAddress: `52:54:00:00:04:${String(count).padStart(2, '0')}`,
        inspectionMode: 'disabled',
        automatedCleaningMode: 'disabled',
        ...spec,
      },
    });
    return testenv.hosts.named(name);
  }

  async function provisioned(name: string, spec: Partial<BareMetalHost['spec']> = {}, annotations = {}) {
    const host = await create(name, { image, ...spec }, annotations);
    await host.reaches('provisioned');
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    return host;
  }

  const idOf = (name: string): string => testenv.hosts.named(name).now?.status?.provisioning.ID ?? '';
  const nodeOf = async (name: string) => Object(await fixture.ironic.request('GET', `nodes/${namespace}~${name}`));

  /** Verbs and power targets of the node that the host has now. */
  const targetsOf = (name: string): string[] =>
    fixture.relay.changes
      .filter(({ path }) => path.startsWith(`nodes/${idOf(name)}/states/`))
      .flatMap(({ body }) => Object(body).target ?? []);

  /** Resolves when Ironic was asked for each of these verbs, which it does not carry out. */
  function refusing(...verbs: string[]): Promise<void> {
    const open = new Set(verbs);
    return new Promise((resolve) => {
      fixture.relay.setFault(({ body }) => {
        const { target } = Object(body);
        if (!verbs.includes(target)) return undefined;
        open.delete(target);
        if (open.size === 0) resolve();
        return unavailable;
      });
    });
  }

  /** The same hosts meet an Ironic that knows nothing. */
  async function loseDatabase(): Promise<void> {
    fixture.relay.setFault(() => unavailable);
    await fixture.ironic.loseDatabase();
    fixture.relay.clear();
    fixture.relay.setFault(() => undefined);
  }

  const hasNewNode = (former: string) => (host: BareMetalHost) =>
    !['', former].includes(host.status?.provisioning.ID ?? '');

  test('an empty database deploys, cleans and powers off nothing, in whatever state the hosts are', async () => {
    const [free, deployed, leaving] = [
      await create('free'),
      await provisioned('deployed'),
      await provisioned('leaving'),
    ];
    await free.reaches('available');
    const refused = refusing('deleted', 'clean');
    const preparing = await create('preparing', { raid: { hardwareRAIDVolumes: [{ level: '1' }] } });
    await testenv.hosts.patch('leaving', { spec: { image: null } });
    await refused;
    await Promise.all([preparing.reaches('preparing'), leaving.reaches('deprovisioning')]);
    const former = Object.fromEntries(['free', 'deployed', 'leaving', 'preparing'].map((name) => [name, idOf(name)]));
    await loseDatabase();

    await free.until('has a node again', hasNewNode(former.free ?? ''));
    await deployed.until('has a node again', hasNewNode(former.deployed ?? ''));
    await leaving.reaches('available');
    await preparing.until('fails on hardware without RAID', ({ status }) => status?.errorType === 'preparation error');
    assert.equal((await nodeOf('deployed')).provision_state, 'active');
    const { status } = deployed.now ?? {};
    assert.deepEqual([status?.provisioning.state, status?.errorMessage], ['provisioned', '']);
    const verbs = Object.fromEntries(Object.keys(former).map((name) => [name, targetsOf(name).filter(isNoPowerOn)]));
    assert.deepEqual(verbs, {
      free: ['manage'],
      deployed: ['manage', 'adopt'],
      leaving: ['manage', 'provide'],
      preparing: ['manage', 'clean'],
    });
  });

  test('a provisioned host that is moved to another Ironic is adopted, without an inspection', async () => {
    const details = JSON.stringify({ hostname: 'moved', nics: [{ mac: '52:54:00:00:05:01' }] });
    const host = await provisioned('moved', {}, { [hardwareDetailsAnnotation]: details });
    const former = idOf('moved');
    const ref = { namespace, name: 'moved' };
    await testenv.hosts.patch('moved', { metadata: { annotations: { [pausedAnnotation]: 'metal3.io/capm3' } } });
    const { spec, status } = await testenv.client.get(BareMetalHost, ref);
    const { spec: hardware } = await testenv.client.get(HardwareData, ref);
    // As clusterctl does: finalizers are removed, and the objects are created again without their status.
    const kinds: readonly Kind[] = [BareMetalHost, HardwareData];
    for (const kind of kinds) {
      await testenv.client.mergePatch(kind, ref, { metadata: { finalizers: null } });
      await testenv.client.delete(kind, ref);
    }
    await host.isGone();
    await loseDatabase();
    await testenv.client.create(HardwareData, { metadata: ref, spec: hardware });
    const { hardware: _, ...saved } = status ?? {};
    await testenv.client.create(BareMetalHost, {
      metadata: { ...ref, finalizers: [hostFinalizer], annotations: { [statusAnnotation]: JSON.stringify(saved) } },
      // Inspected, if it were a new host.
      spec: { ...spec, inspectionMode: 'agent' },
    });
    const moved = await host.until(
      'is registered here',
      (found) => hasNewNode(former)(found) && found.metadata.annotations?.[statusAnnotation] === undefined,
    );
    await host.until('is adopted', () => targetsOf('moved').includes('adopt'));
    assert.deepEqual([moved.status?.provisioning.state, moved.status?.hardware?.hostname], ['provisioned', 'moved']);
    assert.deepEqual(targetsOf('moved').filter(isNoPowerOn), ['manage', 'adopt']);
    const { ports } = Object(await fixture.ironic.request('GET', `ports?node_uuid=${idOf('moved')}`));
    assert.ok(ports.some(({ address }: { address: string }) => address === '52:54:00:00:05:01'));
  });

  test('a host that is deleted while Ironic is away goes when it is back, and leaves no node', async () => {
    const host = await provisioned('away');
    await fixture.ironic.stop();
    const { status } = host.now ?? {};
    await testenv.client.delete(BareMetalHost, { namespace, name: 'away' });
    await host.until('is being deleted', ({ metadata }) => metadata.deletionTimestamp !== undefined);
    await fixture.ironic.start();
    assert.deepEqual(host.now?.status, status, 'nothing of the status changes meanwhile');
    await host.isGone();
    await assert.rejects(nodeOf('away'), /404/);
    const secret = await testenv.client.get(Secret, { namespace, name: 'away-bmc' });
    assert.equal(secret.metadata.finalizers, undefined);
  });

  test('a deployment that Ironic refuses is undone, tried as often as is allowed, and again when the image is edited', async () => {
    const part = { result: false, reason: 'the image is not there' };
    const body = JSON.stringify({ boot: { result: true }, deploy: part });
    fixture.relay.setFault(({ path }) =>
      path.endsWith('/validate') ? { kind: 'answer', status: 200, body } : undefined,
    );
    const host = await create('limited', { image });
    const failing = await host.until('has given up', ({ status }) =>
      (status?.errorMessage ?? '').includes('could not be deployed in 2 attempts'),
    );
    const { provisioning, provisioningFailCount, errorType } = failing.status ?? {};
    assert.deepEqual([provisioning?.state, provisioningFailCount, errorType], ['available', 2, 'provisioning error']);
    assert.ok(!targetsOf('limited').includes('active'));
    fixture.relay.setFault(() => undefined);
    await testenv.hosts.patch('limited', { spec: { image: { checksum: 'b'.repeat(64) } } });
    const { status } = await host.reaches('provisioned');
    assert.deepEqual([status?.provisioningFailCount, status?.errorMessage], [0, '']);
  });

  test('a request by annotation restarts a host, and that of a client holds it off', async () => {
    const host = await provisioned('restarted');
    const start = targetsOf('restarted').length;
    const annotate = (key: string, text: string | null) =>
      testenv.hosts.patch('restarted', { metadata: { annotations: { [key]: text } } });
    const isOn = ({ status }: BareMetalHost): boolean => status?.poweredOn === true;
    await annotate(rebootAnnotation, '{"mode":"hard"}');
    await host.until('was off', ({ metadata }) => metadata.annotations?.[rebootAnnotation] === undefined);
    await host.until('is on again', isOn);
    await annotate(`${rebootAnnotation}/client`, '{"mode":"hard"}');
    await host.until('is held off', (found) => !isOn(found));
    await annotate(`${rebootAnnotation}/client`, null);
    await host.until('is on at the end', isOn);
    assert.deepEqual(targetsOf('restarted').slice(start), ['power off', 'power on', 'power off', 'power on']);
  });
});

const isNoPowerOn = (target: string): boolean => target !== 'power on';
