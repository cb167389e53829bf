import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { untilRefused, untilTaken } from '@metal/lab/endpoint-trial.ts';
import { startOnFreePorts } from '@metal/lab/free-ports.ts';
import { labsOfFile } from '@metal/lab/lab.ts';

const openLab = labsOfFile();

for (const [replicas, flags] of [
  ['elect a leader', ['--leader-elect']],
  ['share the BMCs', ['--shards=auto']],
] as const) {
  test(`a second endpoint with a MAC address is refused where replicas ${replicas}, also by what the next leader writes`, async () => {
    await using lab = await openLab({ operator: 'none', speed: 1, flags });
    const { client } = lab;
    const macAddress = '02:a0:c0:ff:00:01';
    const odd = '02A0.C0FF.0001';
    const { process: leader } = await startOnFreePorts(lab);
    await client.create(Endpoint, { metadata: { name: 'first' }, spec: { macAddress } });
    const words = await untilRefused(client, { name: 'second', macAddress: odd });
    assert.match(words, /spec\.macAddress: Duplicate value: "02A0\.C0FF\.0001": Endpoint first has it already/);

    await startOnFreePorts(lab);
    assert.equal(await leader.stop(), 0);
    await client.delete(Endpoint, { name: 'first' });
    await untilTaken(client, { name: 'second', macAddress: odd });
    await client.create(Endpoint, { metadata: { name: 'second' }, spec: { macAddress: odd } });
    assert.match(await untilRefused(client, { name: 'third', macAddress }), /Endpoint second has it already/);
  });
}
