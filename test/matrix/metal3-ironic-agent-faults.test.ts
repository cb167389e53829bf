import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { HostUpdatePolicy } from '@metal/api/metal3/host-update-policy.ts';
import type { HostTestenv } from '@metal/testenv/metal3/host-testenv.ts';
import {
  type AgentHost,
  type IronicTestenv,
  onlyPower,
  startIronicTestenv,
} from '@metal/testenv/ironic/ironic-testenv.ts';

const namespace = 'default';
const os = Buffer.from('an operating system');
/** MD5, as an image without a type of its checksum may have it. */
const checksum = '65232af781cac3e855c7a7b42e4c7495';

suite('BareMetalHosts on a real Ironic, whose ramdisk meets faults', { concurrency: true }, () => {
  let env: IronicTestenv;
  let testenv: HostTestenv;
  before(async () => {
    env = await startIronicTestenv();
    ({ testenv } = env);
  });
  after(() => env?.[Symbol.asyncDispose]());

  const nodeState = async (name: string): Promise<unknown> =>
    Object(await env.fixture.ironic.request('GET', `nodes/${namespace}~${name}`)).provision_state;

  const imageOf = (name: string) => ({ url: env.images.serve(`${name}.raw`, os), checksum, format: 'raw' }) as const;

  /** Off first: only a start gets the settings. */
  async function restart({ host }: AgentHost, name: string): Promise<void> {
    await testenv.hosts.patch(name, { spec: { online: false } });
    await host.until('is off', ({ status }) => status?.poweredOn === false);
    await testenv.hosts.patch(name, { spec: { online: true } });
  }

  test('settings that a BMC refuses are a servicing error, which ends when they are withdrawn', async () => {
    const added = await env.addHost('refused', { ...onlyPower, image: imageOf('refused') }, { vendor: 'hpe' });
    const { host, node } = added;
    await host.until(
      'runs its image',
      ({ status }) => status?.provisioning.state === 'provisioned' && status.poweredOn,
    );
    node.bmc.rejectAttribute('UrlBootTimeout');
    const metadata = { name: 'refused', namespace };
    await testenv.client.create(HostUpdatePolicy, { metadata, spec: { firmwareSettings: 'onReboot' } });
    await env.firmwareSettings.patch('refused', { spec: { settings: { UrlBootTimeout: 60 } } });
    await env.firmwareSettings.named('refused').hasCondition('ChangeDetected', 'True');
    await restart(added, 'refused');
    const failing = await host.until('has an error', ({ status }) => status?.errorType === 'servicing error');
    assert.match(failing.status?.errorMessage ?? '', /UrlBootTimeout|apply_configuration/);
    assert.equal(failing.status?.provisioning.state, 'provisioned');
    await env.firmwareSettings.patch('refused', { spec: { settings: { UrlBootTimeout: null } } });
    const healed = await host.until(
      'is in order',
      ({ status }) => status?.operationalStatus === 'OK' && status.poweredOn,
    );
    assert.deepEqual([healed.status?.errorType, healed.status?.errorMessage], [undefined, '']);
    assert.equal(await nodeState('refused'), 'active');
    await node.until(({ running }) => running?.from === 'disk', AbortSignal.timeout(60_000));
  });

  test('a host whose ramdisk does not come up can be deleted in a deployment', async () => {
    const { host, node, machine } = await env.addHost('unreachable', onlyPower);
    await host.reaches('available');
    machine.loseNetwork();
    await testenv.hosts.patch('unreachable', { spec: { image: imageOf('unreachable') } });
    await host.reaches('provisioning');
    await removedWhileOn({ host, node }, 'unreachable');
  });

  test('a host whose ramdisk does not come up can be deleted in an inspection', async () => {
    const { host, node, machine } = await env.addHost('silent', { automatedCleaningMode: 'disabled' });
    machine.loseNetwork();
    await host.reaches('inspecting');
    await removedWhileOn({ host, node }, 'silent');
  });

  test('a host that must not be powered off is deployed by restarts', async () => {
    const spec = { ...onlyPower, disablePowerOff: true };
    const { host, node, machine } = await env.addHost('always-on', spec, { inUse: true });
    let wasPoweredOff = false;
    // A restart does not pass through it.
    using _watch = machine.onChange(() => (wasPoweredOff ||= machine.power === 'PoweringOff'));
    await host.reaches('available');
    await testenv.hosts.patch('always-on', { spec: { image: imageOf('always-on') } });
    await host.reaches('provisioned');
    await node.until(({ running }) => running?.from === 'disk', AbortSignal.timeout(60_000));
    assert.equal(node.running?.kernel.url, 'disk:nvme1n1');
    assert.equal(wasPoweredOff, false);
  });

  async function removedWhileOn({ host, node }: Pick<AgentHost, 'host' | 'node'>, name: string): Promise<void> {
    await node.until(({ power }) => power === 'On', AbortSignal.timeout(120_000));
    await testenv.client.delete(BareMetalHost, { name, namespace });
    await host.isGone();
    await assert.rejects(nodeState(name), /404/);
  }
});
