import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { caPem, certFingerprint, certPem, elsewherePem, expiredPem, keyPem } from '../../test/certificates.ts';
import { StubBmc, openStubClient } from '../../test/stub-bmc.ts';
import type { BmcTls } from '../endpoint.ts';
import { RedfishError } from '../errors.ts';
import { readSystem } from '../resources/systems.ts';

const system = '/redfish/v1/Systems/1';

async function readOnce(cert: string, tls: BmcTls): Promise<{ requests: number; outcome: unknown }> {
  await using stub = await StubBmc.start({ tls: { key: keyPem, cert } });
  await using bmc = openStubClient(stub, { endpoint: { ...stub.endpoint, tls } });
  const outcome: unknown = await readSystem(bmc, system).catch((error: unknown) => error);
  return { requests: stub.received.length, outcome };
}

async function isTrusted(cert: string, tls: BmcTls): Promise<void> {
  const { outcome } = await readOnce(cert, tls);
  assert.partialDeepStrictEqual(outcome, { powerState: 'Off' });
}

async function isRejected(cert: string, tls: BmcTls, reason: RegExp): Promise<void> {
  const { requests, outcome } = await readOnce(cert, tls);
  assert.ok(outcome instanceof RedfishError);
  assert.equal(outcome.code, 'TlsUntrusted');
  assert.equal(outcome.retry, 'blocked');
  assert.match(outcome.message, reason);
  assert.match(outcome.message, /([0-9A-F]{2}:){31}/);
  assert.equal(requests, 0, 'nothing is sent to a BMC that is not trusted');
}

test('a certificate of the configured CA is trusted', () => isTrusted(certPem, { caPem }));

test('a certificate of an unknown CA is rejected, and the error has its fingerprint and the remedies', () =>
  isRejected(
    certPem,
    {},
    /no CA of this system issued it; compare fingerprint .* and set protocol\.tls\.fingerprint or caBundle$/,
  ));

test('a certificate for another name is rejected', () =>
  isRejected(elsewherePem, { caPem }, /not issued for 127\.0\.0\.1/));

test('an expired certificate is rejected', () => isRejected(expiredPem, { caPem }, /it has expired/));

test('a pinned certificate is trusted with any issuer', () => isTrusted(certPem, { fingerprint: certFingerprint }));

test('a fingerprint in lower case without colons is accepted', () =>
  isTrusted(certPem, { fingerprint: certFingerprint.replaceAll(':', '').toLowerCase() }));

test('another certificate than the pinned one is rejected, even one of the configured CA', () =>
  isRejected(elsewherePem, { caPem, fingerprint: certFingerprint }, /pinned fingerprint is/));

const elsewhere = { fingerprint: new X509Certificate(elsewherePem).fingerprint256 };

test('a recorded certificate is trusted with any issuer', () =>
  isTrusted(certPem, { recordedFingerprint: certFingerprint }));

test('a certificate of the configured CA is trusted whatever is recorded', () =>
  isTrusted(certPem, { caPem, recordedFingerprint: elsewhere.fingerprint }));

test('another certificate than the recorded one gets no request, and the error has both fingerprints', async () => {
  const { requests, outcome } = await readOnce(elsewherePem, { recordedFingerprint: certFingerprint });
  assert.ok(outcome instanceof RedfishError);
  assert.deepEqual([outcome.code, outcome.retry, requests], ['CertificateChanged', 'blocked', 0]);
  assert.ok(
    outcome.message.includes(`shows certificate ${elsewhere.fingerprint} instead of the recorded ${certFingerprint}`),
  );
  assert.equal(outcome.unknownCertificate, undefined, 'it is not to be recorded');
});

for (const [title, cert, tls, expected] of [
  ['of an unknown CA', certPem, {}, certFingerprint],
  ['of a known CA for another name', elsewherePem, { caPem }, undefined],
  ['that is not the pinned one', elsewherePem, { fingerprint: certFingerprint }, undefined],
] as const)
  test(`the error of a certificate ${title} ${expected === undefined ? 'has no' : 'has its'} fingerprint to be recorded`, async () => {
    const { outcome } = await readOnce(cert, tls);
    assert.ok(outcome instanceof RedfishError);
    assert.equal(outcome.unknownCertificate, expected);
  });

test('any certificate is accepted when verification is disabled', () =>
  isTrusted(expiredPem, { insecureSkipVerify: true }));

test('a CA bundle without certificates trusts no BMC', () =>
  isRejected(certPem, { caPem: 'see the wiki' }, /no CA of the bundle issued it/));

test('TLS to a plain HTTP port is Unreachable, with a hint', async () => {
  await using stub = await StubBmc.start();
  await using bmc = openStubClient(stub, { endpoint: { ...stub.endpoint, scheme: 'https' } });
  await assert.rejects(readSystem(bmc, system), { code: 'Unreachable', message: /is the scheme http\?/ });
});
