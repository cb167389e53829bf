import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';

// Duplicates pass the API server when they are created at the same moment; without the admission rules, at any time.
const startTestenv = testenvsOfFile({ admission: false });

test('only the first of two Endpoints with one MAC address is acted on, and both report the duplicate', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const { macAddress, address: ip } = node.bmc;
  const odd = macAddress.replaceAll(':', '').toUpperCase();
  await testenv.client.create(Endpoint, { metadata: { name: 'a-twin' }, spec: { macAddress: odd, ip } });
  const duplicate = testenv.endpoints.named('a-twin');
  await duplicate.hasCondition('Ready', 'False');
  await duplicate.hasCondition('MACAddressUnique', 'False');
  assert.equal(duplicate.condition('Ready')?.reason, 'DuplicateMACAddress');
  assert.match(duplicate.condition('Ready')?.message ?? '', new RegExp(`Endpoint ${node.name} has ${odd} already`));
  await testenv.endpoint(node).hasCondition('MACAddressUnique', 'False');
  assert.match(testenv.endpoint(node).condition('MACAddressUnique')?.message ?? '', /^also of a-twin; only the first/);
  assert.equal(testenv.endpoint(node).condition('Ready')?.status, 'True');
  assert.equal(testenv.bmcs.named('a-twin').now, undefined);

  await testenv.client.delete(Endpoint, { name: 'a-twin' });
  await testenv.endpoint(node).hasCondition('MACAddressUnique', 'True');
});
