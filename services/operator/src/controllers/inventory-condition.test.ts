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

test('what cannot be read is counted, and the first is named', () => {
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

test('the message is short, and repeats nothing that a BMC hides in a path', () => {
  const path = `/redfish/v1/${'x'.repeat(1_000)}/Drives/\u202e\n1?token=secret`;
  const missing = Array.from({ length: 10_000 }, () => lost(path, { code: 'BadAnswer', status: 200 }));
  const message = conditionsFor(missing)[0]?.message ?? '';
  assert.ok(message.length <= 160, String(message.length));
  assert.match(message, /^10000 resources cannot be read, first …x+\/Drives\/\?\?1 \(BadAnswer\); /);
});

test('complete is said only where it once was not', () => {
  assert.deepEqual(conditionsFor([]), []);
  const [before] = conditionsFor([lost('/a')]);
  assert.ok(before);
  const [after] = conditionsFor([], [before]);
  assert.deepEqual([after?.status, after?.reason], ['True', 'AllResourcesRead']);
});

test('what another process said stays until this one has read something', () => {
  assert.deepEqual(inventoryCondition(object(), undefined), []);
  const before = conditionsFor([lost('/a')]);
  assert.deepEqual(inventoryCondition(object(before), undefined), before);
});

test('a status that says it already needs no other', () => {
  const conditions = conditionsFor([lost('/a')]) as Condition[];
  assert.equal(isInventoryReported(object(), []), true);
  assert.equal(isInventoryReported(object(), [lost('/a')]), false);
  assert.equal(isInventoryReported(object(conditions), [lost('/a')]), true);
  assert.equal(isInventoryReported(object(conditions), [lost('/b')]), false);
  assert.equal(isInventoryReported(object(conditions), []), false);
});
