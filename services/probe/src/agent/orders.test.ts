import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ignitionUrl, kernelParameters } from './ignition-url.ts';
import { ordersFrom } from './orders.ts';

const flags = '--registry-url=http://registry.test:10000 --server-uuid=U1 --token-file=/etc/metalprobe/token';
const unitWith = (execStart: string, enabled: boolean | undefined = true) => ({
  name: 'metalprobe.service',
  enabled,
  contents: `[Service]\nRestart=on-failure\nExecStart=${execStart}\n[Install]\nWantedBy=multi-user.target\n`,
});
const file = (path: string, source: string, compression?: string) => ({ path, contents: { source, compression } });
const token = file('/etc/metalprobe/token', 'data:,the%2Dtoken%0A');
const ignitionWith = (units: object[], files: object[] = [token], more: object = {}) =>
  JSON.stringify({ ignition: { version: '3.2.0', ...more }, storage: { files }, systemd: { units } });

test('flags and token come from the unit that the ignition enables', () => {
  const orders = ordersFrom(ignitionWith([{ name: 'other.service' }, unitWith(`/usr/bin/metalprobe ${flags}`)]), '');
  assert.deepEqual(
    [orders.registryUrl, orders.systemUUID, orders.token, orders.caPem, orders.lldp.budgetMs],
    ['http://registry.test:10000', 'U1', 'the-token', undefined, 30_000],
  );
});

test('a unit that starts the probe in a container is parsed, with line continuations and quotes', () => {
  const execStart =
    '/usr/bin/nerdctl run --rm \\\n  --privileged registry.test/probe:1 "-registry-url=http://r.test" --server-uuid U1';
  const orders = ordersFrom(ignitionWith([unitWith(execStart)]), '');
  assert.deepEqual([orders.registryUrl, orders.systemUUID, orders.token], ['http://r.test', 'U1', undefined]);
});

const packed = `data:;base64,${gzipSync('packed-token').toString('base64')}`;
test('content that Butane has compressed is decompressed', () => {
  const orders = ordersFrom(
    ignitionWith([unitWith(`metalprobe ${flags}`)], [file('/etc/metalprobe/token', packed, 'gzip')]),
    '',
  );
  assert.equal(orders.token, 'packed-token');
});

test('the CA file of the unit takes precedence over the certificate authorities of the ignition', () => {
  const security = { tls: { certificateAuthorities: [{ source: 'data:,GENERAL' }] } };
  const units = [unitWith(`metalprobe ${flags} --ca-file=/etc/ca.pem`)];
  const named = ordersFrom(ignitionWith([unitWith(`metalprobe ${flags}`)], [token], { security }), '');
  const own = ordersFrom(ignitionWith(units, [token, file('/etc/ca.pem', 'data:,OWN')], { security }), '');
  assert.deepEqual([named.caPem, own.caPem], ['GENERAL', 'OWN']);
});

test('the kernel command line overrides flags', () => {
  const commandLine = 'console=ttyS0 metalprobe.lldp-sync-duration=2s quiet';
  assert.equal(ordersFrom(ignitionWith([unitWith(`metalprobe ${flags}`)]), commandLine).lldp.budgetMs, 2_000);
});

const invalidOrders: [string, string, RegExp][] = [
  ['that is not JSON', '<html>', /JSON/],
  ['without the unit', ignitionWith([]), /enables no unit metalprobe.service/],
  ['whose unit is not enabled', ignitionWith([unitWith(flags, false)]), /enables no unit/],
  ['whose unit starts something else', ignitionWith([unitWith('/bin/true')]), /no --registry-url/],
  ['without the token file', ignitionWith([unitWith(flags)], []), /cannot read \/etc\/metalprobe\/token/],
  ['with an unknown flag', ignitionWith([unitWith(`${flags} --what`)]), /unknown option/],
];
for (const [what, text, message] of invalidOrders) {
  test(`an ignition ${what} is rejected with the reason`, () => assert.throws(() => ordersFrom(text, ''), message));
}

const sources: [string, string, string[], string | undefined][] = [
  [
    'the kernel command line',
    'a ignition.config.url=http://b.test/boot/t/ignition b',
    [],
    'http://b.test/boot/t/ignition',
  ],
  [
    'the directory of the boot file',
    'console=ttyS0',
    ['http://b.test/boot/t/discovery.efi'],
    'http://b.test/boot/t/ignition',
  ],
  [
    'the command line before the boot file',
    'ignition.config.url=http://a.test/i',
    ['http://b.test/x'],
    'http://a.test/i',
  ],
  ['no TFTP path', '', ['undionly.kpxe', ''], undefined],
];
for (const [source, commandLine, bootFiles, url] of sources) {
  test(`orders are fetched from ${source}`, () => assert.equal(ignitionUrl(commandLine, bootFiles), url));
}

test('kernel parameters may be quoted, and the last one of a name takes effect', () => {
  const parameters = kernelParameters('a=1 b="x y" quiet a=2');
  assert.deepEqual([parameters.get('a'), parameters.get('b'), parameters.get('quiet')], ['2', 'x y', '']);
});

const order = { attempt: 1, mode: 'Clear', disks: [{ serial: 'S1', sizeBytes: 1_000 }] };
const orderFile = (text: string) => file('/etc/metalprobe/erasure.json', `data:,${encodeURIComponent(text)}`);

test('an erasure order is read together with the flags', () => {
  const units = [unitWith(`metalprobe ${flags}`)];
  assert.equal(ordersFrom(ignitionWith(units), '').erasure, undefined);
  const { erasure, registryUrl } = ordersFrom(ignitionWith(units, [token, orderFile(JSON.stringify(order))]), '');
  assert.deepEqual(
    [registryUrl, erasure?.mode, erasure?.disks[0]?.serial],
    ['http://registry.test:10000', 'Clear', 'S1'],
  );
});

test('an order with an invalid part is rejected as a whole', () => {
  const units = [unitWith(`metalprobe ${flags}`)];
  const wrong = JSON.stringify({ ...order, mode: 'Everything' });
  assert.throws(() => ordersFrom(ignitionWith(units, [token, orderFile(wrong)]), ''), { code: 'OrderInvalid' });
});

test('a deployment order is read together with the flags', () => {
  const deployment = {
    deployment: 'boot-1',
    disk: { serial: 'S1', sizeBytes: 1_000 },
    image: { encoding: 'zstd', sizeBytes: 500, sha256: 'a'.repeat(64) },
    configDrive: true,
  };
  const source = `data:,${encodeURIComponent(JSON.stringify(deployment))}`;
  const files = [token, file('/etc/metalprobe/deployment.json', source)];
  const orders = ordersFrom(ignitionWith([unitWith(`metalprobe ${flags}`)], files), '');
  assert.deepEqual([orders.erasure, orders.deployment?.disk.serial], [undefined, 'S1']);
});
