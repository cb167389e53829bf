import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { serversToChange } from './controller.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const ruleWith = (resourceVersion: string, rack: string): ServerReadinessRule => ({
  apiVersion,
  kind: 'ServerReadinessRule',
  metadata: { name: 'r', uid: 'r', resourceVersion },
  spec: {
    conditions: [{ type: 'BurnIn', requiredStatus: 'True' }],
    enforcementMode: 'Continuous',
    taint: { key: 'k', effect: 'NoBind' },
    serverSelector: { matchLabels: { rack } },
  },
});

test('a created, changed or deleted rule evaluates each server once, and enqueues servers with wrong taints', ({
  mock,
}) => {
  const [servers, readinessRules] = [new Store<Server>(), new Store<ServerReadinessRule>()];
  for (const rack of ['a', 'b'])
    servers.upsertIfNewer({
      apiVersion,
      kind: 'Server',
      metadata: { name: `in-${rack}`, labels: { rack } },
      spec: { systemUUID: rack, taints: rack === 'a' ? [{ key: 'k', effect: 'NoBind' }] : [] },
    });
  const listCalls = mock.method(servers, 'all');
  const enqueued: string[][] = [];
  readinessRules.onChange(({ before, after }) => {
    listCalls.mock.resetCalls();
    const rules = [before, after].filter((rule) => rule !== undefined);
    enqueued.push(rules.flatMap((rule) => serversToChange(rule, { caches: { servers, readinessRules } })));
    assert.equal(listCalls.mock.callCount(), 1);
  });
  readinessRules.upsertIfNewer(ruleWith('1', 'a'));
  readinessRules.upsertIfNewer(ruleWith('2', 'b'));
  readinessRules.removeByUid('r', 'r');
  assert.deepEqual(enqueued, [['in-a'], ['in-b'], []]);
});
