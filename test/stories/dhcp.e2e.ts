import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { startDhcp } from '@metal/dhcp/dhcp.ts';
import { watchMachineKinds } from '@metal/dhcp/machines.ts';
import { DhcpNetwork, obstacleToDhcpNetworks } from '@metal/lab/dhcp-network.ts';
import { labsOfFile } from '@metal/lab/lab.ts';
import { LogLines } from '@metal/lab/log-lines.ts';
import { dhcpWishes as wishes } from './dhcp-wishes.ts';

const obstacle = await obstacleToDhcpNetworks();
const options = obstacle === undefined ? {} : { skip: obstacle };
const openLab = labsOfFile();

const prefixes = `
macPrefixes:
  - { macPrefix: "02AAAA", manufacturer: Generic, protocol: Redfish, protocolScheme: http, port: 1, type: bmc }`;

test(
  'a device that gets an address on the management network becomes an Endpoint, which follows it',
  options,
  async () => {
    await using network = await DhcpNetwork.open();
    using _path = await network.dnsmasqRunsHere();
    await using lab = await openLab({
      macPrefixes: () => prefixes,
      flags: [
        '--components=controllers,registry,boot,dhcp',
        '--dhcp=dnsmasq',
        `--dhcp-directory=${network.directory}/dhcp`,
        '--dhcp-interfaces=dhcp',
        `--dhcp-ranges=${wishes.ranges}`,
        '--dhcp-mac-prefixes=02',
        '--dhcp-endpoint-range=192.0.2.0/24',
      ],
    });
    const moved = { name: 'moved', macAddress: '02-AA-AA-00-00-02' };
    await lab.client.create(Endpoint, {
      metadata: { name: moved.name },
      spec: { macAddress: moved.macAddress, ip: '192.0.2.250' },
    });
    const [stranger, unknown, followed, made] = await network.ask(
      { mac: '06:00:00:00:00:01', takes: true },
      { mac: '02:bb:bb:00:00:01', takes: true },
      { mac: '02:aa:aa:00:00:02', takes: true },
      { mac: '02:aa:aa:00:00:01', takes: true },
    );
    assert.equal(stranger, undefined, 'nobody knows it');
    assert.ok(unknown, 'it is answered by its prefix');
    const endpoint = await lab.endpointNamed('mac-02aaaa000001').exists();
    assert.deepEqual(endpoint.spec, { macAddress: '02:aa:aa:00:00:01', ip: made?.ip });
    await lab.endpointNamed(moved.name).until('follows its lease', ({ spec }) => spec?.ip === followed?.ip);
    assert.deepEqual([...lab.endpoints.all()].map(({ metadata }) => metadata.name).toSorted(), [
      'mac-02aaaa000001',
      'moved',
    ]);
    const [again] = await network.ask({ mac: '02:aa:aa:00:00:01', takes: true });
    assert.equal(again?.ip, made?.ip);
    const { metadata } = await lab.endpointNamed('mac-02aaaa000001').exists();
    assert.equal(metadata.resourceVersion, lab.endpointNamed('mac-02aaaa000001').now?.metadata.resourceVersion);
  },
);

test('a machine is answered from its discovery on, and before it only by its prefix', options, async () => {
  await using network = await DhcpNetwork.open();
  using _path = await network.dnsmasqRunsHere();
  await using lab = await openLab({
    flags: [
      '--components=controllers,registry,boot,dhcp',
      '--dhcp=dnsmasq',
      `--dhcp-directory=${network.directory}/dhcp`,
      `--dhcp-ranges=${wishes.ranges}`,
    ],
  });
  const [node] = await lab.rack({ dell: 1 });
  assert.ok(node);
  const mac = node.machine.hardware.nics[0]?.macAddress ?? '';
  await lab.plugIn(node);
  await lab.server(node).says('Available');
  const [stranger, answer] = await network.ask({ mac: '06:00:00:00:00:01' }, { mac, takes: true });
  assert.equal(stranger, undefined);
  assert.match(answer?.ip ?? '', /^192\.0\.2\./);
});

test('of two replicas one answers, and the other as soon as the first one stops', options, async () => {
  await using network = await DhcpNetwork.open();
  await using lab = await openLab({ operator: 'none' });
  const { client, clock } = lab;
  const startReplica = async (identity: string) => {
    const lines = new LogLines();
    const answers = lines.next(/DHCP answers known machines/);
    const service = await startDhcp({
      how: 'dnsmasq',
      wishes: { ...wishes, directory: `${network.directory}/${identity}` },
      client,
      caches: watchMachineKinds(lab.caches),
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
    return { service, answers };
  };
  const first = await startReplica('first');
  await first.answers;
  const second = await startReplica('second');
  await using _ended = second.service;
  const [before] = await network.ask({ mac: '02:aa:aa:00:00:01', takes: true });
  const programs = await network.serverPrograms();
  assert.equal(programs, 1);
  await first.service[Symbol.asyncDispose]();
  await second.answers;
  const [after] = await network.ask({ mac: '02:aa:aa:00:00:01', takes: true });
  assert.ok(before && after);
  assert.equal(await network.serverPrograms(), 1);
});
