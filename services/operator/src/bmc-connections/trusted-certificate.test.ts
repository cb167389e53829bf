import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trustedCertificateAnnotation } from '@metal/api/wire/contract.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import { readOperatorConfig } from '../options.ts';
import { endpointOf } from './connection.ts';
import { certificateToRecord } from './trusted-certificate.ts';

const pin = readOperatorConfig({ 'bmc-tls': 'pin' });
const verify = readOperatorConfig({});
const unknown = new RedfishError({ code: 'TlsUntrusted', message: 'untrusted', unknownCertificate: 'AB:CD' });
const refused = new RedfishError({ code: 'Unreachable', message: 'refused' });

for (const [title, error, tls, config, expected] of [
  ['of no known authority is recorded', unknown, undefined, pin, 'AB:CD'],
  ['is not recorded unless the option asks for it', unknown, undefined, verify, undefined],
  ['of a BMC with authorities of its own is not recorded', unknown, { caBundle: 'PEM' }, pin, undefined],
  ['is not recorded after another error', refused, undefined, pin, undefined],
  ['is not recorded without an error', undefined, undefined, pin, undefined],
] as const)
  test(`a certificate ${title}`, () => assert.equal(certificateToRecord(error, tls, config), expected));

const recordedIn = (annotations: Record<string, string>, config = pin) =>
  endpointOf('192.0.2.1', { metadata: { annotations }, protocol: { name: 'Redfish', port: 443 } }, config).tls
    ?.recordedFingerprint;

test('a connection trusts the certificate of the annotation, with --bmc-tls=pin only', () => {
  const annotations = { [trustedCertificateAnnotation]: 'AB:CD' };
  assert.equal(recordedIn(annotations), 'AB:CD');
  assert.equal(recordedIn(annotations, verify), undefined);
  assert.equal(recordedIn({ [trustedCertificateAnnotation]: '' }), undefined);
});

for (const [option, expected] of [
  ['skip-cert-validation', /--bmc-tls=pin contradicts --skip-cert-validation/],
  ['insecure', /--bmc-tls=pin contradicts --insecure/],
] as const)
  test(`--bmc-tls=pin is an error with --${option}`, () => {
    assert.throws(() => readOperatorConfig({ 'bmc-tls': 'pin', [option]: 'true' }), expected);
  });
