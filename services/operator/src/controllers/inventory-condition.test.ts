import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition, KubeObject } from '@metal/kube/kinds/kind.ts';
import type { MissingPart } from '@metal/redfish/resources/part-reader.ts';
import { inventoryCondition, isInventoryReported } from './inventory-condition.ts';

const lost = (path: string, more: Partial<MissingPart> = {}): MissingPart => ({
  part: 'processors',
  path,
  isMember: true,
  code: 'HttpError',
  status: 500,
  reason: 'broken',
  ...more,
});
const object = (conditions: object[] = []): KubeObject & { status: object } => ({
  apiVersion: 'v1',
  kind: 'Server',
  metadata: { name: 'one' },
  status: { conditions },
});
const conditionsFor = (missing: MissingPart[], before: object[] = []) => inventoryCondition(object(before), missing);

test('the condition counts the unreadable resources and names the first', () => {
  const missing = [lost('/redfish/v1/Systems/1/Processors/2'), lost('/redfish/v1/Systems/1/Storage/A')];
  assert.deepEqual(conditionsFor(missing), [
    {
      type: 'InventoryComplete',
      status: 'False',
      reason: 'ResourcesUnreadable',
      message:
        '2 resources cannot be read, first /redfish/v1/Systems/1/Processors/2 (HTTP 500); last known values are kept',
    },
  ]);
});

test('the message is short, and contains no query or control character of a path', () => {
  const path = `/redfish/v1/${'x'.repeat(1_000)}/Drives/\u202e\n1?token=secret`;
  const missing = Array.from({ length: 10_000 }, () => lost(path, { code: 'BadAnswer', status: 200 }));
  const message = conditionsFor(missing)[0]?.message ?? '';
  assert.ok(message.length <= 160, String(message.length));
  assert.match(message, /^10000 resources cannot be read, first …x+\/Drives\/\?\?1 \(BadAnswer\); /);
});

test('a complete inventory is reported only after an incomplete one', () => {
  assert.deepEqual(conditionsFor([]), []);
  const [before] = conditionsFor([lost('/a')]);
  assert.ok(before);
  const [after] = conditionsFor([], [before]);
  assert.deepEqual([after?.status, after?.reason], ['True', 'AllResourcesRead']);
});

test('the condition of another process stays until this one has read the inventory', () => {
  assert.deepEqual(inventoryCondition(object(), undefined), []);
  const before = conditionsFor([lost('/a')]);
  assert.deepEqual(inventoryCondition(object(before), undefined), before);
});

test('a status that reports the same resources is not written again', () => {
  const conditions = conditionsFor([lost('/a')]) as Condition[];
  assert.equal(isInventoryReported(object(), []), true);
  assert.equal(isInventoryReported(object(), [lost('/a')]), false);
  assert.equal(isInventoryReported(object(conditions), [lost('/a')]), true);
  assert.equal(isInventoryReported(object(conditions), [lost('/b')]), false);
  assert.equal(isInventoryReported(object(conditions), []), false);
});
