import assert from 'node:assert/strict';
import { test } from 'node:test';
import { originOf, pathOf } from './endpoint.ts';

test('the origin of an IPv6 address has brackets, also when the host has none', () => {
  assert.equal(originOf({ scheme: 'https', host: 'fd00::1', port: 443 }), 'https://[fd00::1]:443');
  assert.equal(originOf({ scheme: 'https', host: '[fd00::1]', port: 443 }), 'https://[fd00::1]:443');
  assert.equal(originOf({ scheme: 'http', host: '10.0.0.1', port: 8000 }), 'http://10.0.0.1:8000');
});

const links: Record<string, string> = {
  '/redfish/v1/Systems/1': '/redfish/v1/Systems/1',
  'redfish/v1': '/redfish/v1',
  'https://bmc.internal/redfish/v1/Tasks/1?x=y': '/redfish/v1/Tasks/1?x=y',
  'HTTP://[fe80::1]:80/a': '/a',
  'https://bmc.internal': '/',
  '/redfish/v1/Chassis/1/Power#/PowerSupplies/0': '/redfish/v1/Chassis/1/Power',
};
for (const [link, path] of Object.entries(links)) {
  test(`${link} is followed at ${path}`, () => assert.equal(pathOf(link), path));
}
