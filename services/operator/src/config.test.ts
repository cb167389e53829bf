import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from './config.ts';
import { compatibleOptions } from './options.ts';

const required = ['--probe-image=probe', '--probe-os-image=os', '--registry-url=http://192.0.2.1:10000'];
const read = (flags: string[] = [], environment: NodeJS.ProcessEnv = {}) =>
  readConfig([...required, ...flags], environment);

test('every manager flag of v0.7.0 is accepted', () => {
  const samples = { string: 'x', boolean: 'true', duration: '1m', integer: '1', pairs: 'a=b' };
  const special: Record<string, string> = {
    'registry-url': 'http://192.0.2.1',
    'event-url': 'http://192.0.2.1',
    protocol: 'https',
    'zap-encoder': 'json',
    'registry-protocol': 'http',
  };
  const flags = compatibleOptions.map(({ name, type }) => `--${name}=${special[name] ?? samples[type]}`);
  assert.doesNotThrow(() => readConfig(flags, {}));
});

test('flags are written as in Go: one dash or two, with = or a space, switches alone or with =false', () => {
  assert.equal(read(['-discovery-timeout', '1h30m']).discoveryTimeoutMs, 5_400_000);
  assert.equal(read(['--leader-elect']).leaderElect, true);
  assert.equal(read(['--leader-elect=false']).leaderElect, false);
  assert.equal(read(['-leader-elect=true']).leaderElect, true);
  assert.throws(() => read(['--leader-elect', 'false']), /unexpected argument "false"/);
});

test('claims name no image by URL unless its origin is listed', () => {
  assert.deepEqual(read().imageSources.allowedOrigins, []);
  const { allowedOrigins, isRefusedAddress } = read([
    '--allowed-image-origins=https://a.test, http://b.test:8080/',
    '--refused-image-networks=10.96.0.0/12',
  ]).imageSources;
  assert.deepEqual(allowedOrigins, ['https://a.test', 'http://b.test:8080']);
  assert.deepEqual([isRefusedAddress('10.96.0.1'), isRefusedAddress('127.0.0.1')], [true, false]);
});

test('replicas that share the BMCs elect a leader for the rest', () => {
  assert.equal(read([]).shards, 'none');
  const { shards, leaderElect } = read(['--shards=auto']);
  assert.deepEqual({ shards, leaderElect }, { shards: 'auto', leaderElect: true });
  assert.throws(() => read(['--shards=3']), /--shards: "3" is none of none, auto/);
});

test('the lease has the times of v0.7.0, and other ones only where two leaders stay impossible', () => {
  assert.deepEqual(read().lease, { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 });
  const shorter = ['--leader-election-lease-duration=3s', '--leader-election-renew-deadline=2s'];
  assert.deepEqual(read([...shorter, '--leader-election-retry-period=500ms']).lease, {
    leaseMs: 3_000,
    renewMs: 2_000,
    retryMs: 500,
  });
  assert.throws(() => read(shorter), /each has to be longer than the next/);
  assert.throws(() => read(['--leader-election-renew-deadline=15s']), /each has to be longer than the next/);
});

test('BMC certificates are verified unless somebody says otherwise', () => {
  const secure = read();
  assert.deepEqual([secure.defaultScheme, secure.skipCertificateValidation], ['https', false]);
  assert.equal(read(['--insecure']).defaultScheme, 'http');
  assert.equal(read(['--insecure=false']).skipCertificateValidation, false, 'v0.7.0 skipped verification even then');
  assert.equal(read(['--protocol=https', '--insecure']).skipCertificateValidation, false);
  assert.equal(read(['--protocol=https', '--skip-cert-validation']).skipCertificateValidation, true);
});

test('the registry is found by flag or by environment', () => {
  assert.equal(read().registryUrl, 'http://192.0.2.1:10000');
  assert.equal(
    readConfig(['--probe-image=p', '--probe-os-image=o'], { REGISTRY_ADDRESS: '192.0.2.7' }).registryUrl,
    'http://192.0.2.7:10000',
  );
  assert.throws(
    () => readConfig(['--probe-image=p', '--probe-os-image=o'], {}),
    /give --registry-url, or set REGISTRY_ADDRESS/,
  );
});

test('the boot service is looked for beside the registry', () => {
  assert.equal(read().bootUrl, 'http://192.0.2.1:8082');
  assert.equal(read([], { BOOT_ADDRESS: '192.0.2.9' }).bootUrl, 'http://192.0.2.9:8082');
});

for (const [flags, message] of [
  [['--discovery-timeout=soon'], /--discovery-timeout: "soon" is no duration; expected Go syntax/],
  [['--registry-port=70000'], /--registry-port: 70000 is no port/],
  [['--server-max-concurrent-reconciles=-1'], /is no whole number of 0 or more/],
  [['--protocol=ftp'], /--protocol: "ftp" is none of http, https/],
  [
    ['--components=controllers,kitchen'],
    /--components: "kitchen" is none of controllers, registry, boot, metadata, dhcp/,
  ],
  [['--registry-auth=maybe'], /--registry-auth: "maybe" is none of token, none/],
  [['--event-auth=maybe'], /--event-auth: "maybe" is none of token, none/],
  [['--metadata-auth=maybe'], /--metadata-auth: "maybe" is none of address, token/],
  [['--dhcp=isc'], /--dhcp: "isc" is none of none, files, dnsmasq/],
  [['--dhcp=dnsmasq'], /--dhcp=dnsmasq does nothing without the component: add dhcp to --components/],
  [['--components=dhcp'], /--components names dhcp, but --dhcp says none/],
  [['--components=boot,dhcp', '--dhcp=files', '--dhcp-unknown=perhaps'], /"perhaps" is none of ignore, answer/],
  [['--static-metadata=zone'], /--static-metadata: "zone" is no pair; expected key=value/],
  [['--static-metadata==1'], /--static-metadata: "=1" is no pair/],
  [['--static-metadata', 'user-data=1'], /--static-metadata: "user-data" is given by the server itself/],
  [['--static-metadata=a=1', '--static-metadata=server-name=1'], /"server-name" is given by the server itself/],
  [['--boot-step-deadlines=script'], /--boot-step-deadlines: "script" is no deadline; expected one like script=30m/],
  [['--boot-step-deadlines=script=30m,dhcp=1m'], /"dhcp=1m" is no deadline; .* of script, kernel, initrd, uki/],
  [['--boot-step-deadlines=kernel=0s'], /"kernel=0s" is no deadline/],
  [['--leader-elect=perhaps'], /--leader-elect: "perhaps" is neither true nor false/],
  [['--registry-url=nowhere'], /--registry-url: "nowhere" is no URL/],
  [['--registry-ca-file=/nonexistent.pem'], /--registry-ca-file: cannot read \/nonexistent\.pem/],
  [['--registry-cert-path=/certificate'], /machines are told http:.*; expected https in --registry-url/],
  [['--bmc-ca-file=/nonexistent.pem'], /--bmc-ca-file: cannot read \/nonexistent\.pem/],
] as const) {
  test(`${flags.join(' ')} is refused with what is expected`, () => {
    assert.throws(() => read([...flags]), { code: 'InvalidConfiguration', message });
  });
}

test('discovery does not start without the images it boots', () => {
  assert.throws(() => readConfig(['--registry-url=http://192.0.2.1'], {}), /--probe-image is required/);
  assert.doesNotThrow(() => readConfig(['--components=registry'], {}), 'a registry alone boots nothing');
});

test('steps of a boot have the usual deadlines but for those that are given', () => {
  assert.deepEqual(read().bootDeadlines, {});
  const given = read(['--boot-step-deadlines=script=1h, kernel=90s']).bootDeadlines;
  assert.deepEqual(given, { script: 3_600_000, kernel: 90_000 });
});

test('static metadata is given pair by pair, and the last one of a key counts', () => {
  assert.deepEqual(read().staticMetadata, {});
  assert.deepEqual(
    read(['--static-metadata=zone=a', '--static-metadata', 'url=http://x/?a=b', '--static-metadata=zone='])
      .staticMetadata,
    {
      zone: '',
      url: 'http://x/?a=b',
    },
  );
});

test('the metadata service takes the port flag of v0.7.0', () => {
  assert.equal(read().metadataPort, 10_002);
  assert.equal(read(['--metaldata-port=10003']).metadataPort, 10_003);
  assert.equal(read(['-metaldata-port', '10004']).metadataPort, 10_004);
  assert.doesNotThrow(() => readConfig(['--components=metadata'], {}), 'it boots nothing and needs no registry');
});

test('there is an event receiver when BMCs have a way to it', () => {
  assert.equal(read().eventUrl, undefined);
  assert.equal(read(['--event-url=http://192.0.2.5:10001/']).eventUrl, 'http://192.0.2.5:10001');
  assert.equal(
    read(['--event-protocol=https', '--event-port=10009'], { EVENT_ADDRESS: '192.0.2.5' }).eventUrl,
    'https://192.0.2.5:10009',
  );
});

test('DHCP on its own needs to know where machines boot from', () => {
  const flags = ['--components=dhcp', '--dhcp=dnsmasq'];
  assert.throws(() => readConfig(flags, {}), /--boot-url is required/);
  const { dhcp, bootUrl } = readConfig([...flags, '--boot-url=http://192.0.2.1:8082/'], {});
  assert.deepEqual(
    [dhcp.how, dhcp.leaseMs, dhcp.unknown, bootUrl],
    ['dnsmasq', 3_600_000, 'ignore', 'http://192.0.2.1:8082'],
  );
  assert.equal(read().dhcp.how, 'none');
});

test('an option that does nothing yet is named when somebody sets it', () => {
  assert.deepEqual(read().withoutEffect, []);
  assert.deepEqual(read(['--enable-http2', '--webhook-port=9443']).withoutEffect, ['enable-http2']);
});

test('events go where the URL or the address says, and nowhere without either', () => {
  assert.equal(read().eventUrl, undefined);
  assert.equal(read(['--event-url=https://events.test/']).eventUrl, 'https://events.test');
  const flags = ['--components=registry', '--event-port=7', '--event-protocol=https'];
  assert.equal(readConfig(flags, { EVENT_ADDRESS: '192.0.2.7' }).eventUrl, 'https://192.0.2.7:7');
});

test('an address of version 6 is put in brackets', () => {
  const address = '2001:db8::7';
  const needed = ['--probe-image=p', '--probe-os-image=o'];
  const { registryUrl, bootUrl, eventUrl } = readConfig(needed, { REGISTRY_ADDRESS: address, EVENT_ADDRESS: address });
  assert.deepEqual(
    [registryUrl, bootUrl, eventUrl],
    ['http://[2001:db8::7]:10000', 'http://[2001:db8::7]:8082', 'http://[2001:db8::7]:10001'],
  );
  assert.equal(read([], { BOOT_ADDRESS: address }).bootUrl, 'http://[2001:db8::7]:8082');
});

test('registries and what is kept of them are read from lists and sizes', () => {
  const { bootRegistries, bootFileRoots } = read(['--boot-file-roots=/srv/a, /srv/b', '--boot-cache-size=500Mi']);
  assert.deepEqual(bootFileRoots, ['/srv/a', '/srv/b']);
  assert.deepEqual([bootRegistries.allowed, bootRegistries.insecure], [['ghcr.io'], []]);
  assert.equal(bootRegistries.cacheBytes, 500 * 1_048_576);
  assert.deepEqual(read(['--allowed-registries=']).bootRegistries.allowed, ['ghcr.io'], 'empty means the same');
  assert.deepEqual(read(['--allowed-registries=a.test,B.test:5000']).bootRegistries.allowed, ['a.test', 'B.test:5000']);
  for (const size of ['', '0', '20 GB', '1.5Gi', '-1', '5Q'])
    assert.throws(() => read([`--boot-cache-size=${size}`]), /is no size; expected something like 500Mi or 20Gi/, size);
});
