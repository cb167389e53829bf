import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { failedAssertions } from '@metal/simulator/conformance.ts';
import { startFleet } from '@metal/simulator/fleet.ts';
import { profiles, vendors } from '@metal/simulator/profiles.ts';
import { validateProtocol } from '@metal/testenv/fleet/protocol-validator.ts';

/** A service that ends the run early passes fewer: one without sessions passes 282, the generic one 338. */
const leastPassed = 250;

suite("DMTF's protocol validator", { concurrency: true }, () => {
  for (const vendor of vendors) {
    const expected = failedAssertions(profiles[vendor]);
    test(`finds in the ${vendor} profile ${expected.length === 0 ? 'no violation' : 'only those of its quirks'}`, async () => {
      await using fleet = await startFleet({ https: true });
      const { bmc } = await fleet.add({ vendor });
      const { url, username, password } = bmc;
      const report = await validateProtocol({ url, username, password, caPem: fleet.caPem ?? '' });
      assert.deepEqual(report.failedAssertions, expected, report.failures.join('\n'));
      assert.ok(report.passed >= leastPassed, `only ${report.passed} checks passed`);
    });
  }
});
