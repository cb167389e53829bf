import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { labsOfFile } from '@metal/lab/lab.ts';

// Twins get past the API server when they are created at the same moment; without the admission rules, at any moment.
const openLab = labsOfFile({ admission: false });

test('of two endpoints with one MAC address the first works, the second is left alone, and both say so', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.server(node).says('Available');
  const { macAddress, address: ip } = node.bmc;
  const odd = macAddress.replaceAll(':', '').toUpperCase();
  await lab.client.create(Endpoint, { metadata: { name: 'a-twin' }, spec: { macAddress: odd, ip } });
  const twin = lab.endpointNamed('a-twin');
  await twin.has('Ready', 'False');
  await twin.has('MACAddressUnique', 'False');
  assert.equal(twin.condition('Ready')?.reason, 'DuplicateMACAddress');
  assert.match(twin.condition('Ready')?.message ?? '', new RegExp(`Endpoint ${node.name} has ${odd} already`));
  await lab.endpoint(node).has('MACAddressUnique', 'False');
  assert.match(lab.endpoint(node).condition('MACAddressUnique')?.message ?? '', /^also of a-twin; only the first/);
  assert.equal(lab.endpoint(node).condition('Ready')?.status, 'True');
  assert.equal(lab.bmcNamed('a-twin').now, undefined);

  await lab.client.delete(Endpoint, { name: 'a-twin' });
  await lab.endpoint(node).has('MACAddressUnique', 'True');
});
