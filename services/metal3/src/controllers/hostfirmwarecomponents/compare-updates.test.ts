import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NotSupported } from '../../provisioner/node-services.ts';
import { compareUpdates } from './compare-updates.ts';

const bios = { component: 'bios', url: 'http://files.test/bios.bin' };
const nic = { component: 'nic:1', url: 'http://files.test/nic.bin' };

test('no update, and no update before, is no change', () => {
  assert.deepEqual(compareUpdates([], undefined, []), { isChanged: false, problems: [] });
});

test('an update that was started is no change, another one is', () => {
  assert.equal(compareUpdates([bios], [bios], []).isChanged, false);
  assert.deepEqual(compareUpdates([bios, nic], [bios], []), { isChanged: true, problems: [] });
  assert.equal(compareUpdates([], [bios], []).isChanged, true);
});

test('a component that cannot be updated is invalid', () => {
  const { problems } = compareUpdates([bios, { ...bios, component: 'gpu' }, { ...bios, component: 'nic:' }], [], []);
  assert.deepEqual(
    problems.map((problem) => /"(.*)"/.exec(problem)?.[1]),
    ['gpu', 'nic:'],
  );
});

test('updates of a host whose back end can make none are invalid', () => {
  assert.deepEqual(compareUpdates([bios], [], new NotSupported('no firmware over IPMI')).problems, [
    'no firmware over IPMI',
  ]);
});
