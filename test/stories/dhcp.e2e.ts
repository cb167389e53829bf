import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { startDhcp } from '@metal/dhcp/dhcp.ts';
import { watchMachineKinds } from '@metal/dhcp/machines.ts';
import { DhcpNetwork, dhcpNetworkBlocker } from '@metal/testenv/network/dhcp-network.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { LogLines } from '@metal/testenv/operator/log-lines.ts';
import { dhcpFlags } from '../fixtures/dhcp-flags.ts';

const blocker = await dhcpNetworkBlocker();
const options = blocker === undefined ? {} : { skip: blocker };
const startTestenv = testenvsOfFile();

const prefixes = `
macPrefixes:
  - { macPrefix: "02AAAA", manufacturer: Generic, protocol: Redfish, protocolScheme: http, port: 1, type: bmc }`;

test(
  'a device with a lease on the management network becomes an Endpoint, which follows the lease',
  options,
  async () => {
    await using network = await DhcpNetwork.open();
    using _path = await network.installDnsmasqWrapper();
    await using testenv = await startTestenv({
      macPrefixes: () => prefixes,
      flags: [
        '--components=controllers,registry,boot,dhcp',
        '--dhcp=dnsmasq',
        `--dhcp-directory=${network.directory}/dhcp`,
        '--dhcp-interfaces=dhcp',
        `--dhcp-ranges=${dhcpFlags.ranges}`,
        '--dhcp-mac-prefixes=02',
        '--dhcp-endpoint-range=192.0.2.0/24',
      ],
    });
    const moved = { name: 'moved', macAddress: '02-AA-AA-00-00-02' };
    await testenv.client.create(Endpoint, {
      metadata: { name: moved.name },
      spec: { macAddress: moved.macAddress, ip: '192.0.2.250' },
    });
    const [unlisted, unknown, followed, made] = await network.request(
      { mac: '06:00:00:00:00:01', acceptsOffer: true },
      { mac: '02:bb:bb:00:00:01', acceptsOffer: true },
      { mac: '02:aa:aa:00:00:02', acceptsOffer: true },
      { mac: '02:aa:aa:00:00:01', acceptsOffer: true },
    );
    assert.equal(unlisted, undefined, 'the machine is unknown');
    assert.ok(unknown, 'the device is answered by its prefix');
    const endpoint = await testenv.endpoints.named('mac-02aaaa000001').exists();
    assert.deepEqual(endpoint.spec, { macAddress: '02:aa:aa:00:00:01', ip: made?.ip });
    await testenv.endpoints.named(moved.name).until('follows its lease', ({ spec }) => spec?.ip === followed?.ip);
    assert.deepEqual([...testenv.endpoints.all()].map(({ metadata }) => metadata.name).toSorted(), [
      'mac-02aaaa000001',
      'moved',
    ]);
    const [again] = await network.request({ mac: '02:aa:aa:00:00:01', acceptsOffer: true });
    assert.equal(again?.ip, made?.ip);
    const { metadata } = await testenv.endpoints.named('mac-02aaaa000001').exists();
    assert.equal(metadata.resourceVersion, testenv.endpoints.named('mac-02aaaa000001').now?.metadata.resourceVersion);
  },
);

test('a machine is answered from its discovery on, and before only by its MAC prefix', options, async () => {
  await using network = await DhcpNetwork.open();
  using _path = await network.installDnsmasqWrapper();
  await using testenv = await startTestenv({
    flags: [
      '--components=controllers,registry,boot,dhcp',
      '--dhcp=dnsmasq',
      `--dhcp-directory=${network.directory}/dhcp`,
      `--dhcp-ranges=${dhcpFlags.ranges}`,
    ],
  });
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  const mac = node.machine.hardware.nics[0]?.macAddress ?? '';
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const [unlisted, reply] = await network.request({ mac: '06:00:00:00:00:01' }, { mac, acceptsOffer: true });
  assert.equal(unlisted, undefined);
  assert.match(reply?.ip ?? '', /^192\.0\.2\./);
});

test('one of two replicas answers DHCP, and the other one as soon as the first stops', options, async () => {
  await using network = await DhcpNetwork.open();
  await using testenv = await startTestenv({ operator: 'none' });
  const { client, clock } = testenv;
  const startReplica = async (identity: string) => {
    const lines = new LogLines();
    const serving = lines.next(/DHCP answers known machines/);
    const service = await startDhcp({
      mode: 'dnsmasq',
      flags: { ...dhcpFlags, directory: `${network.directory}/${identity}` },
      client,
      caches: watchMachineKinds(testenv.caches),
      bootTokenKey: () => Promise.resolve(new Uint8Array(32)),
      isManagementDevice: () => true,
      leaderElection: {
        namespace: 'default',
        leaseName: 'dhcp-replicas',
        identity,
        leaseMs: 15_000,
        renewMs: 10_000,
        retryMs: 2_000,
      },
      command: network.serverCommand,
      clock,
      log: lines.log,
    });
    return { service, serving };
  };
  const first = await startReplica('first');
  await first.serving;
  const second = await startReplica('second');
  await using _ended = second.service;
  const [before] = await network.request({ mac: '02:aa:aa:00:00:01', acceptsOffer: true });
  const programs = await network.countServers();
  assert.equal(programs, 1);
  await first.service[Symbol.asyncDispose]();
  await second.serving;
  const [after] = await network.request({ mac: '02:aa:aa:00:00:01', acceptsOffer: true });
  assert.ok(before && after);
  assert.equal(await network.countServers(), 1);
});
