import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { untilRejected, untilAccepted } from '@metal/testenv/cluster/endpoint-dry-run.ts';
import { startOnFreePorts } from '@metal/testenv/operator/free-ports.ts';
import type { Testenv, TestenvOptions } from '@metal/testenv/testenv.ts';

/** Declares the test of replicas with these flags. */
export function testDuplicateMacAddress(
  startTestenv: (options: TestenvOptions) => Promise<Testenv>,
  replicas: string,
  flags: readonly string[],
): void {
  test(`a second Endpoint with a MAC address is rejected where replicas ${replicas}, also with the index of the next leader`, async () => {
    await using testenv = await startTestenv({ operator: 'none', speed: 1, flags });
    const { client } = testenv;
    const macAddress = '02:a0:c0:ff:00:01';
    const odd = '02A0.C0FF.0001';
    const { process: leader } = await startOnFreePorts(testenv);
    await client.create(Endpoint, { metadata: { name: 'first' }, spec: { macAddress } });
    const message = await untilRejected(client, { name: 'second', macAddress: odd });
    assert.match(message, /spec\.macAddress: Duplicate value: "02A0\.C0FF\.0001": Endpoint first has it already/);

    await startOnFreePorts(testenv);
    assert.equal(await leader.stop(), 0);
    await client.delete(Endpoint, { name: 'first' });
    await untilAccepted(client, { name: 'second', macAddress: odd });
    await client.create(Endpoint, { metadata: { name: 'second' }, spec: { macAddress: odd } });
    assert.match(await untilRejected(client, { name: 'third', macAddress }), /Endpoint second has it already/);
  });
}
