import assert from 'node:assert/strict';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Password } from '@metal/redfish/http/bmc.ts';
import { readOperatorConfig } from '../options.ts';
import { type Connection, endpointOf, isSameConnection } from './connection.ts';

const usual: Connection = {
  endpoint: {
    scheme: 'https',
    host: '192.0.2.1',
    port: 443,
    tls: { caPem: 'authorities', fingerprint: 'ab:cd', insecureSkipVerify: false },
  },
  username: 'root',
  password: new Password('secret'),
};
const { endpoint } = usual;
/** A new object, as in every reconcile. */
const copy = (): Connection => ({
  endpoint: { ...endpoint, tls: { ...endpoint.tls } },
  username: usual.username,
  password: new Password(usual.password.reveal()),
});

test('two connections from the same objects are equal', () => {
  assert.equal(isSameConnection(usual, copy()), true);
  const bare: Connection = { ...usual, endpoint: { scheme: 'http', host: 'bmc', port: 80 } };
  assert.equal(isSameConnection(bare, { ...bare, endpoint: { ...bare.endpoint } }), true);
  assert.equal(isSameConnection(undefined, usual), false);
});

const others: Record<string, Connection> = {
  username: { ...usual, username: 'admin' },
  password: { ...usual, password: new Password('another') },
  scheme: { ...usual, endpoint: { ...endpoint, scheme: 'http' } },
  host: { ...usual, endpoint: { ...endpoint, host: '192.0.2.2' } },
  port: { ...usual, endpoint: { ...endpoint, port: 8443 } },
  authorities: { ...usual, endpoint: { ...endpoint, tls: { ...endpoint.tls, caPem: 'others' } } },
  'no authorities': { ...usual, endpoint: { ...endpoint, tls: { ...endpoint.tls, caPem: undefined } } },
  fingerprint: { ...usual, endpoint: { ...endpoint, tls: { ...endpoint.tls, fingerprint: 'ab:ce' } } },
  'no fingerprint': { ...usual, endpoint: { ...endpoint, tls: { ...endpoint.tls, fingerprint: undefined } } },
  'recorded certificate': { ...usual, endpoint: { ...endpoint, tls: { ...endpoint.tls, recordedFingerprint: 'ab' } } },
  'no verification': { ...usual, endpoint: { ...endpoint, tls: { ...endpoint.tls, insecureSkipVerify: true } } },
  'no TLS settings': { ...usual, endpoint: { ...endpoint, tls: undefined } },
};

for (const [what, other] of Object.entries(others)) {
  test(`another connection: ${what}`, () => {
    assert.equal(isSameConnection(usual, other), false);
    assert.equal(isSameConnection(other, usual), false);
  });
}

test('connections are compared without serializing the bundle', () => {
  const toJSON = () => assert.fail('it was serialized');
  const { tls } = endpoint;
  const unserializable: Connection = {
    ...usual,
    endpoint: Object.assign({}, endpoint, { tls: Object.assign({}, tls, { toJSON }) }),
  };
  assert.equal(isSameConnection(unserializable, copy()), true);
});

const protocol = (caBundle: string | undefined) =>
  ({ name: 'Redfish', port: 443, tls: caBundle === undefined ? {} : { caBundle } }) as const;

test('equal bundles of many BMCs share one string with the authorities of the operator', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'metal-connection-'));
  const file = join(directory.path, 'ca.pem');
  const common = 'of the distribution '.repeat(10_000);
  await writeFile(file, common);
  const config = readOperatorConfig({ 'bmc-ca-file': file });
  const caPemOf = (caBundle: string | undefined) =>
    endpointOf('192.0.2.1', { metadata: {}, protocol: protocol(caBundle) }, config).tls?.caPem;
  assert.equal(caPemOf(undefined), common);
  assert.equal(caPemOf('of a BMC'), `${common}\nof a BMC`);
  const before = process.memoryUsage().heapUsed;
  // Each BMC object has its own copy of the bundle.
  const kept = Array.from({ length: 500 }, (_, index) => caPemOf(Buffer.from(`of hall ${index % 2}`).toString()));
  const bytesPerBmc = (process.memoryUsage().heapUsed - before) / kept.length;
  assert.ok(bytesPerBmc < common.length / 4, `${bytesPerBmc} bytes are kept per BMC`);
  assert.deepEqual(new Set(kept), new Set([`${common}\nof hall 0`, `${common}\nof hall 1`]));
});

test('unused bundles are dropped', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'metal-connection-'));
  const file = join(directory.path, 'ca.pem');
  await writeFile(file, 'of the operator');
  const { bmcAuthorities } = readOperatorConfig({ 'bmc-ca-file': file });
  for (let index = 0; index < 10_000; index += 1)
    assert.equal(bmcAuthorities.with(`of BMC ${index}`), `of the operator\nof BMC ${index}`);
  assert.ok(bmcAuthorities.size <= 256, `${bmcAuthorities.size} are remembered`);
});

test('the authorities of the BMC apply without those of the operator, and those of Node without both', () => {
  const { bmcAuthorities } = readOperatorConfig({});
  assert.equal(bmcAuthorities.with('of a BMC'), 'of a BMC');
  assert.equal(bmcAuthorities.with(''), undefined);
  assert.equal(bmcAuthorities.with(undefined), undefined);
});
