import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@metal/simulator/fleet.ts';
import { factoryBootOrder } from '@metal/simulator/machine.ts';
import type { Testenv, TestenvOptions } from '@metal/testenv/testenv.ts';
import { claimed, failedRelease, follow, reportsOf, resetsBios, tamper } from './cleanup-fixture.ts';

export interface FailingReset {
  readonly title: string;
  readonly fault: (node: Node) => void;
  readonly message: RegExp;
  /** Policy and timeout. */
  readonly flags?: readonly string[];
}

/** Declares the test of a cleanup in which a reset of settings fails. */
export function testFailingReset(
  startTestenv: (options: TestenvOptions) => Promise<Testenv>,
  { title, fault, message, flags = [resetsBios, '--cleanup-timeout=1m'] }: FailingReset,
): void {
  test(`a reset ${title} ends in Error, off and not claimable; a retry succeeds after the machine recovers`, async () => {
    await using testenv = await startTestenv({ flags: [...flags, '--cleanup-attempts=2'] });
    const { node, claim, name, server } = await claimed(testenv);
    using seen = follow(testenv, node);
    tamper(node);
    fault(node);
    const failed = await failedRelease(testenv, { claim, name, server });
    assert.match(failed.status?.failure?.message ?? '', /attempt 2 of 2 to clean it up/);
    assert.match(failed.status?.failure?.message ?? '', message);
    assert.ok((await reportsOf(testenv, name)).every(({ status }) => status?.certificate === undefined));

    await node.bmc.heal();
    await testenv.servers.requestOperation(failed, 'retry');
    await server.hasReason('Available');
    if (flags.includes(resetsBios)) assert.deepEqual(node.machine.biosAttributes, node.machine.factoryBios);
    assert.equal(node.machine.bootOrder[0], factoryBootOrder[0]);
    assert.deepEqual(seen.states, ['Reserved', 'Cleanup', 'Error', 'Cleanup', 'Available']);
  });
}
