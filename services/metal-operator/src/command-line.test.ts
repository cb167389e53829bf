import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from './command-line.ts';
import { compatibleOptions } from './option-list.ts';

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
  const flags = compatibleOptions.map(({ flag, type }) => `--${flag}=${special[flag] ?? samples[type]}`);
  assert.doesNotThrow(() => readConfig(flags, {}));
});

test('flags have the syntax of Go: one dash or two, = or a space, switches alone or with =false', () => {
  assert.equal(read(['-discovery-timeout', '1h30m']).operator.discoveryTimeoutMs, 5_400_000);
  assert.equal(read(['--leader-elect']).leaderElect, true);
  assert.equal(read(['--leader-elect=false']).leaderElect, false);
  assert.equal(read(['-leader-elect=true']).leaderElect, true);
  assert.throws(() => read(['--leader-elect', 'false']), /unexpected argument "false"/);
});

test('the default configuration allows no image origin', () => {
  assert.deepEqual(read().boot.imageSources.allowedOrigins, []);
  const { allowedOrigins, isRefusedAddress } = read([
    '--allowed-image-origins=https://a.test, http://b.test:8080/',
    '--refused-image-networks=10.96.0.0/12',
  ]).boot.imageSources;
  assert.deepEqual(allowedOrigins, ['https://a.test', 'http://b.test:8080']);
  assert.deepEqual([isRefusedAddress('10.96.0.1'), isRefusedAddress('127.0.0.1')], [true, false]);
});

test('--shards=auto enables leader election', () => {
  assert.equal(read([]).operator.shards, 'none');
  const { operator, leaderElect } = read(['--shards=auto']);
  assert.deepEqual([operator.shards, leaderElect], ['auto', true]);
  assert.throws(() => read(['--shards=3']), /--shards: "3" is none of none, auto/);
});

test('lease times default to those of v0.7.0, and other times are refused where two replicas could lead at once', () => {
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

test('BMC certificates are verified by default', () => {
  const secure = read().operator;
  assert.deepEqual([secure.defaultScheme, secure.skipCertificateValidation], ['https', false]);
  assert.equal(read(['--insecure']).operator.defaultScheme, 'http');
  assert.equal(
    read(['--insecure=false']).operator.skipCertificateValidation,
    false,
    'v0.7.0 skipped verification in this case',
  );
  assert.equal(read(['--protocol=https', '--insecure']).operator.skipCertificateValidation, false);
  assert.equal(read(['--protocol=https', '--skip-cert-validation']).operator.skipCertificateValidation, true);
});

test('the registry URL comes from its flag or from the environment', () => {
  assert.equal(read().registry.url, 'http://192.0.2.1:10000');
  assert.equal(
    readConfig(['--probe-image=p', '--probe-os-image=o'], { REGISTRY_ADDRESS: '192.0.2.7' }).registry.url,
    'http://192.0.2.7:10000',
  );
  assert.throws(
    () => readConfig(['--probe-image=p', '--probe-os-image=o'], {}),
    /give --registry-url, or set REGISTRY_ADDRESS/,
  );
});

test('the boot URL defaults to the host of the registry', () => {
  assert.equal(read().boot.url, 'http://192.0.2.1:8082');
  assert.equal(read([], { BOOT_ADDRESS: '192.0.2.9' }).boot.url, 'http://192.0.2.9:8082');
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
  test(`${flags.join(' ')} fails with an error that names what is expected`, () => {
    assert.throws(() => read([...flags]), { code: 'InvalidConfiguration', message });
  });
}

test('the controllers require the images of discovery', () => {
  assert.throws(() => readConfig(['--registry-url=http://192.0.2.1'], {}), /--probe-image is required/);
  assert.doesNotThrow(() => readConfig(['--components=registry'], {}), 'a registry alone needs no images');
});

test('boot step deadlines contain only the given steps', () => {
  assert.deepEqual(read().boot.deadlines, {});
  const given = read(['--boot-step-deadlines=script=1h, kernel=90s']).boot.deadlines;
  assert.deepEqual(given, { script: 3_600_000, kernel: 90_000 });
});

test('static metadata is given as pairs, and the last pair of a key wins', () => {
  assert.deepEqual(read().metadata.staticMetadata, {});
  assert.deepEqual(
    read(['--static-metadata=zone=a', '--static-metadata', 'url=http://x/?a=b', '--static-metadata=zone=']).metadata
      .staticMetadata,
    {
      zone: '',
      url: 'http://x/?a=b',
    },
  );
});

test('the metadata service accepts the misspelt port flag of v0.7.0', () => {
  assert.equal(read().metadata.port, 10_002);
  assert.equal(read(['--metaldata-port=10003']).metadata.port, 10_003);
  assert.equal(read(['-metaldata-port', '10004']).metadata.port, 10_004);
  assert.doesNotThrow(() => readConfig(['--components=metadata'], {}), 'the metadata service needs no registry');
});

test('the event receiver runs when it has an address', () => {
  assert.equal(read().events.url, undefined);
  assert.equal(read(['--event-url=http://192.0.2.5:10001/']).events.url, 'http://192.0.2.5:10001');
  assert.equal(
    read(['--event-protocol=https', '--event-port=10009'], { EVENT_ADDRESS: '192.0.2.5' }).events.url,
    'https://192.0.2.5:10009',
  );
});

test('DHCP without the boot service requires a boot URL', () => {
  const flags = ['--components=dhcp', '--dhcp=dnsmasq'];
  assert.throws(() => readConfig(flags, {}), /--boot-url is required/);
  const { dhcp, boot } = readConfig([...flags, '--boot-url=http://192.0.2.1:8082/'], {});
  assert.deepEqual(
    [dhcp.mode, dhcp.leaseMs, dhcp.unknown, boot.url],
    ['dnsmasq', 3_600_000, 'ignore', 'http://192.0.2.1:8082'],
  );
  assert.equal(read().dhcp.mode, 'none');
});

test('options without effect are listed when they are set', () => {
  assert.deepEqual(read().withoutEffect, []);
  assert.deepEqual(read(['--enable-http2', '--webhook-port=9443']).withoutEffect, ['enable-http2']);
});

test('the event URL comes from its flag or from the environment, and is undefined without either', () => {
  assert.equal(read().events.url, undefined);
  assert.equal(read(['--event-url=https://events.test/']).events.url, 'https://events.test');
  const flags = ['--components=registry', '--event-port=7', '--event-protocol=https'];
  assert.equal(readConfig(flags, { EVENT_ADDRESS: '192.0.2.7' }).events.url, 'https://192.0.2.7:7');
});

test('an IPv6 address from the environment has brackets in URLs', () => {
  const address = '2001:db8::7';
  const needed = ['--probe-image=p', '--probe-os-image=o'];
  const { registry, boot, events } = readConfig(needed, { REGISTRY_ADDRESS: address, EVENT_ADDRESS: address });
  assert.deepEqual(
    [registry.url, boot.url, events.url],
    ['http://[2001:db8::7]:10000', 'http://[2001:db8::7]:8082', 'http://[2001:db8::7]:10001'],
  );
  assert.equal(read([], { BOOT_ADDRESS: address }).boot.url, 'http://[2001:db8::7]:8082');
});

test('registries and file roots are lists, and the cache size has a unit', () => {
  const { registries, fileRoots } = read(['--boot-file-roots=/srv/a, /srv/b', '--boot-cache-size=500Mi']).boot;
  assert.deepEqual(fileRoots, ['/srv/a', '/srv/b']);
  assert.deepEqual([registries.allowed, registries.insecure], [['ghcr.io'], []]);
  assert.equal(registries.cacheBytes, 500 * 1_048_576);
  assert.deepEqual(read(['--allowed-registries=']).boot.registries.allowed, ['ghcr.io'], 'empty means the default');
  assert.deepEqual(read(['--allowed-registries=a.test,B.test:5000']).boot.registries.allowed, [
    'a.test',
    'B.test:5000',
  ]);
  for (const size of ['', '0', '20 GB', '1.5Gi', '-1', '5Q'])
    assert.throws(() => read([`--boot-cache-size=${size}`]), /is no size; expected something like 500Mi or 20Gi/, size);
});
