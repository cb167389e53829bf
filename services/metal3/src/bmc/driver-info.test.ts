import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Password } from '@metal/redfish/http/password.ts';
import { addressKey, driverInfo } from './driver-info.ts';
import { parseBmcAddress } from './parse-bmc-address.ts';

const login = { username: 'u', password: new Password('p'), verifiesCertificate: true };

function infoOf(text: string, verifiesCertificate = true) {
  const parsed = parseBmcAddress(text);
  assert.ok('address' in parsed);
  const info = driverInfo(parsed.address, { ...login, verifiesCertificate });
  assert.ok(addressKey(parsed.address) in info);
  return info;
}

const ipmi = { ipmi_username: 'u', ipmi_password: 'p', ipmi_priv_level: 'ADMINISTRATOR' };
const redfish = { redfish_username: 'u', redfish_password: 'p' };
const system = { redfish_system_id: '/redfish/v1/Systems/1' };

const rows: [text: string, info: object][] = [
  ['192.0.2.1', { ...ipmi, ipmi_address: '192.0.2.1', ipmi_port: '623' }],
  ['[fe80::1]:6233', { ...ipmi, ipmi_address: 'fe80::1', ipmi_port: '6233' }],
  [
    'ipmi://bmc?privilegelevel=OPERATOR',
    { ...ipmi, ipmi_address: 'bmc', ipmi_port: '623', ipmi_priv_level: 'OPERATOR' },
  ],
  [
    'redfish://[fe80::1]:8443/redfish/v1/Systems/1',
    { ...redfish, ...system, redfish_address: 'https://[fe80::1]:8443' },
  ],
  ['redfish+http://bmc/redfish/v1/Systems/1', { ...redfish, ...system, redfish_address: 'http://bmc' }],
  ['redfish://bmc/redfish/v1/', { ...redfish, redfish_address: 'https://bmc' }],
  ['idrac-virtualmedia://bmc/', { ...redfish, redfish_address: 'https://bmc' }],
  ['redfish-uefihttp://bmc', { ...redfish, redfish_address: 'https://bmc', redfish_system_id: '' }],
];
for (const [text, info] of rows) test(`driver_info of ${text}`, () => assert.deepEqual(infoOf(text), info));

test('verification of the certificate is disabled in the words of the driver', () => {
  assert.equal(infoOf('192.0.2.1', false).ipmi_verify_ca, false);
  assert.equal(infoOf('redfish://bmc/', false).redfish_verify_ca, false);
});
