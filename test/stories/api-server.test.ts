import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCluster } from '@metal/lab/cluster.ts';
import { openLab } from '@metal/lab/lab.ts';

test('an API server that goes away in the middle of a bring-up and of a claim is waited for', async () => {
  await using cluster = await openCluster();
  await using lab = await openLab({ cluster, speed: 2 });
  const nodes = await lab.rack({ generic: 3 });
  const [first] = nodes;
  assert.ok(first);
  await lab.plugIn(...nodes);
  await lab.machine(first).until('runs its probe', () => first.power === 'On');
  await cluster.stopApiServer();
  await cluster.startApiServer();
  for (const node of nodes) {
    await lab.server(node).says('Available');
    assert.equal(node.power, 'Off');
    assert.equal(lab.server(node).now?.status?.networkInterfaces?.length, 2);
  }

  const claim = await lab.claim({ image: 'registry.test/os:1', on: first });
  await lab.machine(first).until('powers on for the claim', () => first.power !== 'Off');
  await cluster.stopApiServer();
  await cluster.startApiServer();
  await lab.server(first).says('ClaimServed');
  await claim.delete();
  await claim.isGone();
  await lab.server(first).says('Available');
  assert.equal(first.power, 'Off');
});
