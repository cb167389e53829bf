import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { operatorChoiceOf } from '@metal/bench/options.ts';
import { Progress } from '@metal/bench/progress.ts';
import { runScenarios } from '@metal/bench/run-scenarios.ts';

/** Four times the duration on two idle cores: a host may give half of them to others. */
const testOptions = { timeout: 480_000 };
const program = fileURLToPath(import.meta.resolve('@metal/bench/bench.ts'));
const { command, flagSet } = operatorChoiceOf({});
/** Long enough for a busy machine: a replica that cannot renew its lease in time ends. */
const leases = '--leader-election-lease-duration=30s --leader-election-renew-deadline=25s';
const quick = {
  servers: 3,
  seed: 'bench',
  speed: { latencyMs: 1, powerMs: 50, bootMs: 100, eraseMs: 50, flashMs: 100 },
  steadySeconds: 1,
  operator: { command: `${command} ${leases}`, flagSet },
  progress: new Progress({ isTTY: false, write: () => true }),
};

test('the scenarios run with three servers and count their cost', testOptions, async () => {
  const names = ['bring-up', 'claim-storm', 'restart', 'release-storm', 'steady', 'degraded-fleet'] as const;
  const measurements = await runScenarios({ ...quick, names });
  assert.deepEqual(
    measurements.map(({ scenario, servers }) => `${scenario} of ${servers}`),
    [
      'one-server of 1',
      'bring-up of 3',
      'claim-storm of 3',
      'restart of 3',
      'release-storm of 3',
      'steady of 3',
      'degraded-fleet of 2',
    ],
  );
  const of = (name: string) => measurements.find(({ scenario }) => scenario === name);
  for (const name of ['bring-up', 'claim-storm', 'release-storm']) {
    const { apiWritesPerServer = 0, redfishPerServer = 0, cpuSeconds = 0, peakMiB = 0 } = of(name)?.figures ?? {};
    assert.ok(apiWritesPerServer > 3 && redfishPerServer > 3 && cpuSeconds > 0 && peakMiB > 20, name);
  }
  const alone = of('one-server')?.figures.apiWritesPerServer ?? 0;
  assert.ok(alone > 8, `${alone} writes: of the one server, not of all three`);
  const { apiServerCpuSeconds = 0, fleetCpuSeconds = 0 } = of('bring-up')?.figures ?? {};
  assert.ok(apiServerCpuSeconds > 0 && fleetCpuSeconds > 0, 'the CPU time of other processes is reported');
  assert.equal(of('bring-up')?.apiRequests.get('create bmcs'), 3);
  // A refresh that takes too long is repeated; a power action is not.
  const switched = of('bring-up')?.redfishRequests.get('POST /redfish/v1/Systems/{id}/Actions/ComputerSystem.Reset');
  assert.equal(switched, 6, 'each is powered on once, and off');
  const { timesOneServer = 0, floorTimesOneServer = 0 } = of('bring-up')?.figures ?? {};
  assert.ok(floorTimesOneServer > 0 && floorTimesOneServer < timesOneServer);
  assert.equal(of('restart')?.figures.powerActions, 0);
  assert.ok((of('restart')?.figures.warmSeconds ?? 0) > 0);
  assert.ok(of('degraded-fleet')?.figures.slowerPercent !== undefined);
  assert.ok(of('steady')?.figures.redfishPerServerMinute !== undefined);
  for (const name of ['bring-up', 'claim-storm', 'restart', 'release-storm', 'steady'])
    assert.equal(of(name)?.figures.logErrors, 0, name);
  assert.equal(of('release-storm')?.figures.beyondClaimsPercent, undefined, 'after a restart it is another process');
});

test('the shards scenario identifies the replica behind each BMC request, also after a kill', testOptions, async () => {
  const [measured] = await runScenarios({ ...quick, servers: 30, names: ['shards'] });
  const { takeoverSeconds = 0, unknownAskerPercent = 100, bmcsSharedAtOnce, logErrors } = measured?.figures ?? {};
  assert.ok(takeoverSeconds > 5, `after ${takeoverSeconds} s: not before the lease of the killed replica has expired`);
  assert.ok(unknownAskerPercent < 50, `${unknownAskerPercent} %`);
  assert.deepEqual([bmcsSharedAtOnce, logErrors], [0, 0]);
});

test('wrong usage has another exit code than a missed budget', async () => {
  const { code, stderr } = await bench('--scenarios=sunshine');
  assert.equal(code, 2);
  assert.match(stderr, /expected some of one-server, bring-up/);
});

const bench = (...flags: string[]): Promise<{ code: number; stderr: string }> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, [program, ...flags], (_, _stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stderr }),
    );
  });
