import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mintBootToken } from '@metal/api/wire/boot-token.ts';
import { type DhcpSeen, startDhcp } from '@metal/dhcp/dhcp.ts';
import { machineStores } from '@metal/dhcp/test/machine-stores.ts';
import { createKubeClient } from '@metal/kube/client/client.ts';
import { createClock } from '@metal/kube/runtime/clock.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Store } from '@metal/kube/cache/store.ts';
import { DhcpNetwork, dhcpNetworkBlocker } from '@metal/testenv/network/dhcp-network.ts';
import { LogLines } from '@metal/testenv/operator/log-lines.ts';
import { Registry } from 'prom-client';

const blocker = await dhcpNetworkBlocker();
const options = blocker === undefined ? {} : { skip: blocker };

const key = new Uint8Array(32).fill(7);
const bootUrl = 'http://boot.test:8082';
const known = '02:00:00:00:00:01';
const unknownMac = '02:00:00:00:00:09';

const firmware = {
  bios: { vendorClass: 'PXEClient:Arch:00000:UNDI:002001', architecture: 0 },
  uefi: { vendorClass: 'PXEClient:Arch:00007:UNDI:003000', architecture: 7 },
  uefiBc: { vendorClass: 'PXEClient:Arch:00009:UNDI:003000', architecture: 9 },
  arm64: { vendorClass: 'PXEClient:Arch:00011:UNDI:003000', architecture: 11 },
  ipxe: { vendorClass: 'PXEClient:Arch:00007:UNDI:003010', architecture: 7, userClass: 'iPXE' },
  ipxeBios: { vendorClass: 'PXEClient:Arch:00000:UNDI:002001', architecture: 0, userClass: 'iPXE' },
  http: { vendorClass: 'HTTPClient:Arch:00016:UNDI:003000', architecture: 16 },
  httpArm64: { vendorClass: 'HTTPClient:Arch:00019:UNDI:003000', architecture: 19 },
  system: { vendorClass: 'udhcp 1.35.0' },
} as const;

/** A DHCP service over caches that the test fills, answering in its own network namespace. */
async function openDhcp(overrides: { unknown?: 'answer'; macPrefixes?: string } = {}) {
  const stack = new AsyncDisposableStack();
  try {
    const network = stack.use(await DhcpNetwork.open());
    const caches = machineStores();
    const lines = new LogLines();
    const metrics = new Registry();
    const seen: DhcpSeen[] = [];
    put(caches.servers, 'one', { spec: { systemUUID: 'u' }, status: { networkInterfaces: [{ macAddress: known }] } });
    const service = await startDhcp({
      mode: 'dnsmasq',
      flags: {
        ranges: '192.0.2.100-192.0.2.199/24',
        interfaces: 'dhcp',
        nameServers: '',
        leaseMs: 3_600_000,
        macPrefixes: '',
        unknown: 'ignore',
        tftpRoot: '/usr/lib/ipxe',
        directory: `${network.directory}/dhcp`,
        endpointRanges: '',
        bootUrl,
        ...overrides,
      },
      // No lease is on a management network here: the API server is not needed.
      client: stack.use(createKubeClient({ kubeconfigPath: undefined })),
      caches,
      bootTokenKey: () => Promise.resolve(key),
      isManagementDevice: () => false,
      onSeen: (event) => seen.push(event),
      metrics,
      command: network.serverCommand,
      clock: createClock(10),
      log: lines.log,
    });
    stack.use(service);
    const owned = stack.move();
    return { network, caches, lines, seen, metrics, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

let version = 0;

/** The same UID for the same name. */
const uidOf = (name: string): string =>
  `00000000-0000-4000-8000-${Buffer.from(name).toString('hex').padStart(12, '0').slice(-12)}`;

function put<T extends KubeObject>(store: Store<T>, name: string, fields: object, namespace?: string): void {
  version += 1;
  const metadata = { name, uid: uidOf(name), resourceVersion: String(version), ...(namespace && { namespace }) };
  // Only the fields that the service reads.
  store.upsertIfNewer({ apiVersion: 'v1', kind: 'Any', metadata, ...fields } as unknown as T);
}

test('each class of machines gets its boot file, and unknown machines get no answer', options, async () => {
  await using dhcp = await openDhcp();
  const bootFileOf = {
    bios: 'undionly.kpxe',
    uefi: 'snponly.efi',
    uefiBc: 'snponly.efi',
    arm64: 'ipxe-arm64.efi',
    ipxe: `${bootUrl}/ipxe/`,
    ipxeBios: `${bootUrl}/ipxe/`,
    http: `${bootUrl}/ipxe.efi`,
    httpArm64: `${bootUrl}/ipxe-arm64.efi`,
    system: undefined,
  } as const satisfies Record<keyof typeof firmware, string | undefined>;
  const classes = Object.values(firmware);
  const [unanswered, unknownHttp, ...replies] = await dhcp.network.request(
    { mac: unknownMac },
    { mac: unknownMac, ...firmware.http },
    ...classes.map((spec) => ({ mac: known, ...spec })),
  );
  assert.deepEqual([unanswered, unknownHttp], [undefined, undefined]);
  assert.deepEqual(
    Object.fromEntries(Object.keys(firmware).map((name, index) => [name, replies[index]?.bootFile])),
    bootFileOf,
  );
  assert.equal(new Set(replies.map((reply) => reply?.ip)).size, 1, 'a machine keeps its address whatever it runs');
  for (const [index, { vendorClass }] of classes.entries()) {
    const expected = vendorClass.startsWith('HTTPClient') ? 'HTTPClient' : undefined;
    assert.equal(replies[index]?.vendorClass, expected, `${vendorClass} is answered with ${expected}`);
    assert.equal(replies[index]?.router, undefined, 'dnsmasq is no router');
  }
  assert.equal(replies[0]?.nextServer, '192.0.2.1');
  assert.ok((await dhcp.network.loadByTftp('snponly.efi')).length > 50_000);
});

test('firmware and system of a machine with a UKI boot get its URL until the boot ends', options, async () => {
  await using dhcp = await openDhcp();
  const { caches, network, lines } = dhcp;
  const boot = { spec: { serverRef: { name: 'one' } }, status: { state: 'Ready', boot: { method: 'UefiHttp' } } };
  const refersTo = (name: string) => ({
    spec: { systemUUID: 'u', bootConfigurationRef: { name, namespace: 'default' } },
    status: { networkInterfaces: [{ macAddress: known }] },
  });
  const uki = `${bootUrl}/boot/${mintBootToken(key, uidOf('boot'))}/uki.efi`;

  const read = lines.next(/read .*\/options\/020000000001/);
  put(caches.bootConfigurations, 'boot', boot, 'default');
  put(caches.servers, 'one', refersTo('boot'));
  await read;
  const specs = [firmware.uefi, firmware.ipxe, firmware.http].map((spec) => ({ mac: known, ...spec }));
  const [pxe, ipxe, http] = await network.request(...specs);
  assert.deepEqual([pxe?.bootFile, ipxe?.bootFile, http?.bootFile], ['snponly.efi', `${bootUrl}/ipxe/`, uki]);
  assert.equal(http?.vendorClass, 'HTTPClient');
  const lease = await network.requestSystemLease(known);
  assert.deepEqual([lease.bootfile, lease.ip], [uki, http?.ip]);

  const reread = lines.next(/read .*\/hosts\/020000000001/);
  put(caches.servers, 'one', refersTo('another'));
  await reread;
  const [after] = await network.request({ mac: known, ...firmware.http });
  assert.equal(after?.bootFile, `${bootUrl}/ipxe.efi`);
  assert.equal((await network.requestSystemLease(known)).bootfile, undefined);
});

test('a changed boot URL is sent at once, also when it changes back to an earlier one', options, async () => {
  await using dhcp = await openDhcp();
  const { caches, network, lines } = dhcp;
  for (const name of ['boot', 'other']) {
    const status = { state: 'Ready', boot: { method: 'UefiHttp' } };
    put(caches.bootConfigurations, name, { spec: { serverRef: { name: 'one' } }, status }, 'default');
  }
  for (const name of ['boot', 'other', 'boot']) {
    const read = lines.next(/read .*\/options\/020000000001/);
    put(caches.servers, 'one', {
      spec: { systemUUID: 'u', bootConfigurationRef: { name, namespace: 'default' } },
      status: { networkInterfaces: [{ macAddress: known }] },
    });
    await read;
    const [reply] = await network.request({ mac: known, ...firmware.http });
    assert.equal(reply?.bootFile, `${bootUrl}/boot/${mintBootToken(key, uidOf(name))}/uki.efi`);
  }
});

test(
  'a newly known machine is answered and its lease reported; a removed machine gets no answer',
  options,
  async () => {
    await using dhcp = await openDhcp();
    const { caches, network, lines, seen, metrics } = dhcp;
    const read = lines.next(/read .*\/hosts\/020000000009/);
    put(caches.endpoints, 'bmc', { spec: { macAddress: '02-00-00-00-00-09', ip: '198.51.100.1' } });
    await read;
    const leaseGranted = lines.next(/lease event|DHCPACK.*02:00:00:00:00:09/);
    const [reply] = await network.request({ mac: unknownMac, acceptsOffer: true });
    await leaseGranted;
    assert.match(reply?.ip ?? '', /^192\.0\.2\.1\d\d$/);

    const reread = lines.next(/read .*\/hosts\/020000000001/);
    caches.endpoints.removeByUid('bmc', uidOf('bmc'));
    await reread;
    const [gone, server] = await network.request({ mac: unknownMac }, { mac: known, acceptsOffer: true });
    assert.equal(gone, undefined);
    await lines.until(() => seen.length >= 2);
    assert.deepEqual(
      seen.map(({ macAddress, serverName, ip }) => [macAddress, serverName, ip]),
      [
        [unknownMac, undefined, reply?.ip],
        [known, 'one', server?.ip],
      ],
    );
    assert.match(await metrics.metrics(), /^metal_dhcp_leases_total\{event="given"\} 2$/m);
  },
);

test('an unknown machine is answered by its MAC prefix, or with --dhcp-unknown=answer', options, async () => {
  for (const specs of [{ macPrefixes: '02-00-00-0' }, { unknown: 'answer' }] as const) {
    await using dhcp = await openDhcp(specs);
    const [reply] = await dhcp.network.request({ mac: unknownMac, ...firmware.uefi });
    assert.equal(reply?.bootFile, 'snponly.efi');
  }
});

test('a killed dnsmasq is restarted and keeps its leases', options, async () => {
  await using dhcp = await openDhcp();
  const [before] = await dhcp.network.request({ mac: known, acceptsOffer: true });
  const started = dhcp.lines.next(/started, version/);
  await dhcp.network.killServer();
  await started;
  const [after] = await dhcp.network.request({ mac: known, acceptsOffer: true });
  assert.equal(after?.ip, before?.ip);
});
