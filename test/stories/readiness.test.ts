import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import type { WatchedObject } from '@metal/testenv/cluster/watched-object.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { parse } from 'yaml';

const startTestenv = testenvsOfFile();

const burnIn = [{ type: 'BurnIn', requiredStatus: 'True' as const }];
const taintsOf = (testenv: Testenv, node: Node) => (testenv.server(node).now?.spec.taints ?? []).map(({ key }) => key);
const tainted = (testenv: Testenv, node: Node, ...keys: string[]) =>
  testenv
    .server(node)
    .until(`has the taints [${keys.join()}]`, ({ spec }) =>
      keys.length === 0
        ? (spec.taints ?? []).length === 0
        : keys.join() === (spec.taints ?? []).map((t) => t.key).join(),
    );

/** Creates a readiness rule, about all servers by default. */
async function createRule(
  { client, rules }: Testenv,
  name: string,
  spec: Partial<ServerReadinessRule['spec']> & Pick<ServerReadinessRule['spec'], 'conditions'>,
): Promise<WatchedObject<ServerReadinessRule>> {
  const taint = { key: 'not-ready', effect: 'NoBind' as const };
  await client.create(ServerReadinessRule, {
    metadata: { name },
    spec: { enforcementMode: 'Continuous', taint, serverSelector: {}, ...spec },
  });
  return rules.named(name);
}

async function availableNodes(testenv: Testenv, count: number): Promise<[Node, ...Node[]]> {
  const [first, ...others] = await testenv.addNodes({ generic: count });
  assert.ok(first);
  await testenv.plugIn(first, ...others);
  for (const node of [first, ...others]) await testenv.server(node).hasReason('Available');
  return [first, ...others];
}

test('a Continuous rule taints a server, removes the taint with the condition met, and taints it again', async () => {
  await using testenv = await startTestenv();
  const [node] = await availableNodes(testenv, 1);
  const rule = await createRule(testenv, 'burned-in', { conditions: burnIn });
  await tainted(testenv, node, 'not-ready');
  await rule.hasReason('ServersNotReady');
  assert.match(
    rule.condition('Ready')?.message ?? '',
    /^1 servers selected, 1 not ready: .*BurnIn=True \(not reported yet\)/,
  );
  assert.deepEqual(rule.now?.metadata.finalizers, ['readiness.metal.ironcore.dev/cleanup-taints']);

  await testenv.servers.reportCondition(node, 'BurnIn', 'True');
  await tainted(testenv, node);
  await rule.hasReason('AllServersReady');
  await testenv.servers.reportCondition(node, 'BurnIn', 'False');
  await tainted(testenv, node, 'not-ready');
});

test('a BootstrapOnly rule never taints a ready server again, unless the rule is recreated', async () => {
  await using testenv = await startTestenv();
  const [node] = await availableNodes(testenv, 1);
  // Longer than the key of an annotation may be.
  const name = `burned-in-${'x'.repeat(60)}`;
  const first = await createRule(testenv, name, { conditions: burnIn, enforcementMode: 'BootstrapOnly' });
  await tainted(testenv, node, 'not-ready');
  await testenv.servers.reportCondition(node, 'BurnIn', 'True');
  await tainted(testenv, node);
  const notes = Object.entries(testenv.server(node).now?.metadata.annotations ?? {}).filter(([key]) =>
    key.startsWith('readiness.metal.ironcore.dev/bootstrap-completed-burned-in-'),
  );
  assert.deepEqual(
    notes.map(([, value]) => value),
    [first.now?.metadata.uid],
  );
  await first.hasReason('AllServersReady');
  await testenv.servers.reportCondition(node, 'BurnIn', 'False');
  await testenv.servers.patch(`${node.name}-system-0`, { metadata: { labels: { touched: 'yes' } } });
  const witness = await createRule(testenv, 'witness', {
    conditions: burnIn,
    taint: { key: 'witness', effect: 'NoBind' },
  });
  await tainted(testenv, node, 'witness');
  await witness.hasReason('ServersNotReady');

  await testenv.client.delete(ServerReadinessRule, { name });
  await first.isGone();
  await createRule(testenv, name, { conditions: burnIn, enforcementMode: 'BootstrapOnly' });
  await tainted(testenv, node, 'witness', 'not-ready');
});

test('a deleted rule removes its taints before it is gone', async () => {
  await using testenv = await startTestenv();
  const nodes = await availableNodes(testenv, 2);
  const [node] = nodes;
  await testenv.servers.patch(`${node.name}-system-0`, { spec: { taints: [{ key: 'of-another-owner' }] } });
  const rule = await createRule(testenv, 'burned-in', { conditions: burnIn });
  await tainted(testenv, node, 'of-another-owner', 'not-ready');
  await rule.hasReason('ServersNotReady');
  await testenv.client.delete(ServerReadinessRule, { name: 'burned-in' });
  await rule.isGone();
  await tainted(testenv, node, 'of-another-owner');
  for (const other of nodes.slice(1)) await tainted(testenv, other);
});

test('a taint shared by two rules stays while one of them fails', async () => {
  await using testenv = await startTestenv();
  const [node] = await availableNodes(testenv, 1);
  const first = await createRule(testenv, 'a-burned-in', { conditions: burnIn });
  const second = await createRule(testenv, 'z-firmware', {
    conditions: [{ type: 'Firmware', requiredStatus: 'True' }],
  });
  await tainted(testenv, node, 'not-ready');
  await testenv.servers.reportCondition(node, 'BurnIn', 'True');
  await first.hasReason('AllServersReady');
  assert.deepEqual(taintsOf(testenv, node), ['not-ready']);
  await testenv.client.delete(ServerReadinessRule, { name: 'a-burned-in' });
  await first.isGone();
  assert.deepEqual(taintsOf(testenv, node), ['not-ready']);
  await testenv.servers.reportCondition(node, 'Firmware', 'True');
  await tainted(testenv, node);
  await second.hasReason('AllServersReady');
});

test("a server that leaves the selector of a rule loses the rule's taint", async () => {
  await using testenv = await startTestenv();
  const [node] = await availableNodes(testenv, 1);
  const server = `${node.name}-system-0`;
  await testenv.servers.patch(server, { metadata: { labels: { row: 'a' } } });
  const rule = await createRule(testenv, 'row-a', {
    conditions: burnIn,
    serverSelector: { matchLabels: { row: 'a' } },
  });
  await tainted(testenv, node, 'not-ready');
  await testenv.servers.patch(server, { metadata: { labels: { row: 'b' } } });
  await tainted(testenv, node);
  await rule.hasReason('NoServerSelected');
});

test('a rule created just before a claim blocks it, and the claim names the rule', async () => {
  await using testenv = await startTestenv();
  const [node] = await availableNodes(testenv, 1);
  await createRule(testenv, 'burned-in', { conditions: burnIn });
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await claim.watched.until('names the rule', ({ status }) =>
    (status?.conditions ?? []).some(({ message }) => message.includes('1 NotReady(burned-in)')),
  );
  assert.equal(testenv.server(node).now?.spec.serverClaimRef, undefined);
  await testenv.servers.reportCondition(node, 'BurnIn', 'True');
  await claim.reaches('Bound');
});

test('a rule with effect Evict takes the server from its claim, unless the condition recovers in time', async () => {
  await using testenv = await startTestenv();
  const [node] = await availableNodes(testenv, 1);
  await testenv.servers.reportCondition(node, 'Fans', 'True');
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
  const fans = [{ type: 'Fans', requiredStatus: 'True' as const }];
  await createRule(testenv, 'fans-ok', { conditions: fans, taint: { key: 'broken-fan', effect: 'Evict' } });
  await testenv.servers.reportCondition(node, 'Fans', 'False');
  await claim.hasReason('Evicting');
  await tainted(testenv, node, 'broken-fan');
  await testenv.servers.reportCondition(node, 'Fans', 'True');
  await claim.hasReason('NotEvicting');
  await tainted(testenv, node);
  assert.equal(claim.phase, 'Bound');
  // Conditions of other programs have survived all writes of the operator.
  assert.equal(testenv.server(node).condition('Fans')?.reason, 'Reported');
});

test('a rule with an invalid selector reports InvalidSelector and taints no server', async () => {
  await using testenv = await startTestenv();
  const [node] = await availableNodes(testenv, 1);
  const rule = await createRule(testenv, 'faulty', {
    conditions: burnIn,
    serverSelector: { matchExpressions: [{ key: 'rack', operator: 'Like', values: ['a*'] }] },
  });
  await rule.hasReason('InvalidSelector');
  assert.equal(rule.condition('Ready')?.status, 'False');
  assert.match(
    rule.condition('Ready')?.message ?? '',
    /"Like" is no operator; expected In, NotIn, Exists or DoesNotExist/,
  );
  assert.deepEqual(taintsOf(testenv, node), []);
  await testenv.client.delete(ServerReadinessRule, { name: 'faulty' });
  await rule.isGone();
});

test('the example of the documentation works unchanged', async () => {
  await using testenv = await startTestenv();
  const [node] = await availableNodes(testenv, 1);
  const manual = await readFile(new URL('../../docs/operate/readiness.md', import.meta.url), 'utf8');
  const [, example = ''] = /```yaml\n(.*?)```/s.exec(manual) ?? [];
  const body: unknown = parse(example);
  assert.ok(typeof body === 'object' && body !== null);
  const path = `/apis/${ServerReadinessRule.apiVersion}/${ServerReadinessRule.plural}`;
  await testenv.client.raw({ method: 'POST', path, body });
  await tainted(testenv, node, 'not-burned-in');
  await testenv.servers.reportCondition(node, 'BurnIn', 'True');
  await tainted(testenv, node);
});
