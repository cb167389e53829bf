import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { done, type StepResult } from '@metal/metal3/provisioner/step-result.ts';
import { type IronicFixture, startIronicFixture } from '@metal/testenv/ironic/ironic-fixture.ts';
import type { IronicHost } from '@metal/testenv/ironic/ironic-host.ts';

let fixture: IronicFixture;
before(async () => {
  fixture = await startIronicFixture({ configuration: { fake: ['deploy_delay = 1'] } });
});
after(() => fixture?.[Symbol.asyncDispose]());

const deployment = {
  image: { url: 'http://images.test/os.raw', checksum: 'a'.repeat(64) },
  customDeploy: undefined,
  bootMode: 'UEFI',
  rootDeviceHints: undefined,
  isForced: false,
  restartsAfterFailure: false,
} as const;
const retry = { cleaning: 'disabled', restartsAfterFailure: false } as const;

const verbs = (): string[] => fixture.relay.changes.flatMap(({ body }) => Object(body).target ?? []);

async function portsOf(host: IronicHost): Promise<string[]> {
  const { ports } = Object(await fixture.ironic.request('GET', `ports?node_uuid=${host.id}`));
  return ports.map(({ address }: { address: string }) => address).toSorted();
}

/** The node is made again, as another one. */
async function lose(host: IronicHost): Promise<string> {
  const { id } = host;
  await fixture.ironic.loseDatabase();
  fixture.relay.clear();
  assert.deepEqual(await (await host.provisioner()).deprovision(retry), { kind: 'unregistered' });
  return id;
}

const deploy = (host: IronicHost): Promise<StepResult> =>
  host.until((provisioner) => provisioner.provision(deployment), { state: 'provisioning' });
const adopt = (host: IronicHost, state: 'provisioned' | 'deprovisioning'): Promise<StepResult> =>
  host.until((provisioner) => provisioner.adopt({ state, restartsAfterFailure: false }), { state });

test('an available host gets its node and all its ports again', async () => {
  const host = fixture.host();
  const nics = [
    { mac: '52:54:00:00:03:01', ip: '192.0.2.1', pxe: false },
    { mac: '52:54:00:00:03:01', ip: '2001:db8::1', pxe: false },
    { mac: '52:54:00:00:03:02' },
  ];
  host.registration = { state: 'available', hardware: { nics } };
  assert.deepEqual(await host.until(), done);
  const before = await portsOf(host);
  assert.deepEqual(before, ['52:54:00:00:01:01', '52:54:00:00:03:01', '52:54:00:00:03:02']);

  const former = await lose(host);
  assert.deepEqual(await host.until(), done);
  assert.notEqual(host.id, former);
  assert.deepEqual(await portsOf(host), before);
  assert.deepEqual(verbs(), ['manage'], 'it is neither cleaned nor deployed');
});

test('a provisioned host is adopted, and not deployed again', async () => {
  const host = fixture.host();
  assert.deepEqual(await deploy(host), done);
  await lose(host);
  assert.deepEqual(await adopt(host, 'provisioned'), done);
  assert.deepEqual(verbs(), ['manage', 'adopt']);
  assert.equal((await fixture.node(host)).provision_state, 'active');
});

test('the deprovisioning of a host goes on', async () => {
  const host = fixture.host();
  assert.deepEqual(await deploy(host), done);
  assert.equal((await (await host.provisioner()).deprovision(retry)).kind, 'busy');
  await lose(host);
  assert.deepEqual(await adopt(host, 'deprovisioning'), done);
  const undeploy = host.until((provisioner) => provisioner.deprovision(retry), { state: 'deprovisioning' });
  assert.deepEqual(await undeploy, done);
  assert.deepEqual(verbs(), ['manage', 'provide']);
});

test('the preparation of a host begins again', async () => {
  const host = fixture.host();
  const data = {
    raid: undefined,
    appliedRaid: undefined,
    rootDeviceHints: undefined,
    firmware: { settings: { BootMode: 'Uefi' }, updates: [] },
    isUnprepared: true,
    restartsAfterFailure: false,
  };
  assert.deepEqual(await host.until(undefined, { state: 'preparing' }), done);
  assert.equal((await (await host.provisioner()).prepare(data)).isStarted, true);
  const former = await lose(host);
  assert.deepEqual(await host.until(undefined, { state: 'preparing' }), done);
  // Its controller forgets the settings of the former node.
  assert.notEqual(host.id, former);
  assert.equal((await (await host.provisioner()).prepare(data)).isStarted, true);
  const prepared = host.until(
    async (provisioner) => (await provisioner.prepare({ ...data, isUnprepared: false })).result,
    { state: 'preparing' },
  );
  assert.deepEqual(await prepared, done);
  assert.deepEqual(verbs(), ['manage', 'clean']);
});
