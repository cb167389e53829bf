import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();

const conditionOf = ({ status }: BMC, type: string) => status?.conditions?.find((condition) => condition.type === type);

test('a failed BMC restart is reported until one succeeds, and then the BMC is observed again', async () => {
  // The BMC is idle: the restart is requested before the operator sees it fail.
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.bmc(node).reaches('Enabled');
  await testenv.server(node).hasReason('Available');
  node.bmc.answer(503);
  await testenv.bmcs.patch(node.name, {
    metadata: { annotations: { 'metal.ironcore.dev/operation': 'graceful-restart-bmc' } },
  });
  const failed = await testenv
    .bmc(node)
    .until(
      'has failed to restart and to answer',
      (bmc) =>
        conditionOf(bmc, 'Reset')?.reason === 'InternalServerError' &&
        conditionOf(bmc, 'Ready')?.reason === 'ConnectionFailed',
    );
  assert.equal(failed.status?.state, 'Pending');
  assert.equal(conditionOf(failed, 'Ready')?.status, 'False');
  assert.equal(conditionOf(failed, 'Reset')?.status, 'False');
  assert.match(conditionOf(failed, 'Reset')?.message ?? '', /^SSH reset failed: no SSH command is known/);
  assert.ok(failed.status?.reset?.failedAt);

  await node.bmc.heal();
  const back = await testenv.bmc(node).hasCondition('Ready', 'True');
  assert.equal(conditionOf(back, 'Reset')?.reason, 'InternalServerError', 'nothing was restarted');
  assert.deepEqual(node.bmc.resets, []);
  assert.equal(back.status?.reset, undefined);
});
