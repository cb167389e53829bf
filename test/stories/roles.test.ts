import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labsOfFile } from '@metal/lab/lab.ts';

const openLab = labsOfFile();

test('the generated roles are enough for the whole main path', async () => {
  await using lab = await openLab({
    underRoles: true,
    operator: 'none',
    speed: 1,
    flags: ['--leader-elect'],
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 200 },
  });
  const operator = await lab.startOperatorProcess();
  const [node] = await lab.rack({ dell: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.server(node).says('Available');
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await lab.server(node).says('ClaimServed');
  await claim.delete();
  await claim.isGone();
  await lab.server(node).says('Available');
  assert.deepEqual(
    operator.log.filter((line) => /forbidden|cannot (get|list|watch|create|patch|delete)/i.test(line)),
    [],
  );
});
