import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCluster } from '@metal/testenv/cluster/cluster.ts';
import { examplesOf, openShell } from '@metal/testenv/cluster/page-commands.ts';
import { startTestenv } from '@metal/testenv/testenv.ts';

test('the commands of the page restore all objects without their status, and machines that run keep running', async () => {
  const [backup, restore, ...others] = (await examplesOf('backup.md', 'By kubectl')).sh;
  assert.deepEqual(others, []);
  await using cluster = await openCluster();
  await using shell = await openShell(cluster);
  await using testenv = await startTestenv({
    cluster,
    operator: 'none',
    speed: 1,
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 200 },
  });
  const [claimed, free] = await testenv.addNodes({ dell: 1, hpe: 1 });
  assert.ok(claimed && free);
  const found = await testenv.fleet.add({ vendor: 'lenovo', inUse: true });
  const operator = await testenv.startOperatorProcess();
  await testenv.plugIn(claimed, free, found);
  await testenv.server(claimed).hasReason('Available');
  await testenv.server(free).hasReason('Available');
  await testenv.server(found).hasReason('RunningServerLeftAlone');
  const claim = await testenv.claim({ image: 'registry.test/os:1', on: claimed });
  await testenv.server(claimed).hasReason('ClaimServed');
  const powerBefore = [claimed, found].map(({ powerLog }) => [...powerLog]);

  await shell.run(backup);
  assert.equal(await operator.stop(), 0);
  await cluster.empty();
  await claim.isGone();
  await shell.run(restore);
  const restored = await claim.watched.exists();
  assert.notEqual(restored.metadata.uid, claim.uid);
  await testenv.startOperatorProcess();
  await claim.hasReason('BootNotTraced');
  await claim.watched.hasCondition('Ready', 'True');
  await testenv.server(found).hasReason('RunningServerLeftAlone');
  await testenv.server(free).hasReason('Available');
  assert.equal(free.power, 'Off');
  assert.deepEqual(
    [claimed, found].map(({ powerLog }) => [...powerLog]),
    powerBefore,
  );
});
