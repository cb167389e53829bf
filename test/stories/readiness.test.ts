import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { type Lab, labsOfFile } from '@metal/lab/lab.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { parse } from 'yaml';

const openLab = labsOfFile();

const burnIn = [{ type: 'BurnIn', requiredStatus: 'True' as const }];
const taintsOf = (lab: Lab, node: Node) => (lab.server(node).now?.spec.taints ?? []).map(({ key }) => key);
const tainted = (lab: Lab, node: Node, ...keys: string[]) =>
  lab
    .server(node)
    .until(`has the taints [${keys.join()}]`, ({ spec }) =>
      keys.length === 0
        ? (spec.taints ?? []).length === 0
        : keys.join() === (spec.taints ?? []).map((t) => t.key).join(),
    );

async function availableNodes(lab: Lab, count: number): Promise<[Node, ...Node[]]> {
  const [first, ...others] = await lab.rack({ generic: count });
  assert.ok(first);
  await lab.plugIn(first, ...others);
  for (const node of [first, ...others]) await lab.server(node).says('Available');
  return [first, ...others];
}

test('a Continuous rule taints a server, lets it go with the condition, and taints it again', async () => {
  await using lab = await openLab();
  const [node] = await availableNodes(lab, 1);
  const rule = await lab.rule('burned-in', { conditions: burnIn });
  await tainted(lab, node, 'not-ready');
  await rule.says('ServersNotReady');
  assert.match(
    rule.condition('Ready')?.message ?? '',
    /^1 servers selected, 1 not ready: .*BurnIn=True \(not reported yet\)/,
  );
  assert.deepEqual(rule.now?.metadata.finalizers, ['readiness.metal.ironcore.dev/cleanup-taints']);

  await lab.report(node, 'BurnIn', 'True');
  await tainted(lab, node);
  await rule.says('AllServersReady');
  await lab.report(node, 'BurnIn', 'False');
  await tainted(lab, node, 'not-ready');
});

test('a BootstrapOnly rule lets a server go for ever, and a rule made anew starts anew', async () => {
  await using lab = await openLab();
  const [node] = await availableNodes(lab, 1);
  // Longer than what fits into the key of an annotation.
  const name = `burned-in-${'x'.repeat(60)}`;
  const first = await lab.rule(name, { conditions: burnIn, enforcementMode: 'BootstrapOnly' });
  await tainted(lab, node, 'not-ready');
  await lab.report(node, 'BurnIn', 'True');
  await tainted(lab, node);
  const notes = Object.entries(lab.server(node).now?.metadata.annotations ?? {}).filter(([key]) =>
    key.startsWith('readiness.metal.ironcore.dev/bootstrap-completed-burned-in-'),
  );
  assert.deepEqual(
    notes.map(([, value]) => value),
    [first.now?.metadata.uid],
  );
  await first.says('AllServersReady');
  await lab.report(node, 'BurnIn', 'False');
  await lab.patchServer(`${node.name}-system-0`, { metadata: { labels: { touched: 'yes' } } });
  const witness = await lab.rule('witness', { conditions: burnIn, taint: { key: 'witness', effect: 'NoBind' } });
  await tainted(lab, node, 'witness');
  await witness.says('ServersNotReady');

  await lab.client.delete(ServerReadinessRule, { name });
  await first.isGone();
  await lab.rule(name, { conditions: burnIn, enforcementMode: 'BootstrapOnly' });
  await tainted(lab, node, 'witness', 'not-ready');
});

test('a deleted rule takes its taints off, and goes when they are off', async () => {
  await using lab = await openLab();
  const nodes = await availableNodes(lab, 2);
  const [node] = nodes;
  await lab.patchServer(`${node.name}-system-0`, { spec: { taints: [{ key: 'of-somebody-else' }] } });
  const rule = await lab.rule('burned-in', { conditions: burnIn });
  await tainted(lab, node, 'of-somebody-else', 'not-ready');
  await rule.says('ServersNotReady');
  await lab.client.delete(ServerReadinessRule, { name: 'burned-in' });
  await rule.isGone();
  assert.deepEqual(taintsOf(lab, node), ['of-somebody-else']);
  for (const other of nodes.slice(1)) assert.deepEqual(taintsOf(lab, other), []);
});

test('of two rules with one taint, the one that still fails keeps it', async () => {
  await using lab = await openLab();
  const [node] = await availableNodes(lab, 1);
  const first = await lab.rule('a-burned-in', { conditions: burnIn });
  const second = await lab.rule('z-firmware', { conditions: [{ type: 'Firmware', requiredStatus: 'True' }] });
  await tainted(lab, node, 'not-ready');
  await lab.report(node, 'BurnIn', 'True');
  await first.says('AllServersReady');
  assert.deepEqual(taintsOf(lab, node), ['not-ready']);
  await lab.client.delete(ServerReadinessRule, { name: 'a-burned-in' });
  await first.isGone();
  assert.deepEqual(taintsOf(lab, node), ['not-ready']);
  await lab.report(node, 'Firmware', 'True');
  await tainted(lab, node);
  await second.says('AllServersReady');
});

test('a server that leaves the selector of a rule loses the taint that the rule put there', async () => {
  await using lab = await openLab();
  const [node] = await availableNodes(lab, 1);
  const server = `${node.name}-system-0`;
  await lab.patchServer(server, { metadata: { labels: { row: 'a' } } });
  const rule = await lab.rule('row-a', { conditions: burnIn, serverSelector: { matchLabels: { row: 'a' } } });
  await tainted(lab, node, 'not-ready');
  await lab.patchServer(server, { metadata: { labels: { row: 'b' } } });
  await tainted(lab, node);
  await rule.says('NoServerSelected');
});

test('a claim is kept away by a rule that was made a moment before, and told which rule', async () => {
  await using lab = await openLab();
  const [node] = await availableNodes(lab, 1);
  await lab.rule('burned-in', { conditions: burnIn });
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await claim.subject.until('names the rule', ({ status }) =>
    (status?.conditions ?? []).some(({ message }) => message.includes('1 NotReady(burned-in)')),
  );
  assert.equal(lab.server(node).now?.spec.serverClaimRef, undefined);
  await lab.report(node, 'BurnIn', 'True');
  await claim.reaches('Bound');
});

test('a rule that evicts takes the server from its claim, unless the condition comes back in time', async () => {
  await using lab = await openLab();
  const [node] = await availableNodes(lab, 1);
  await lab.report(node, 'Fans', 'True');
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await lab.server(node).says('ClaimServed');
  const fans = [{ type: 'Fans', requiredStatus: 'True' as const }];
  await lab.rule('fans-turn', { conditions: fans, taint: { key: 'broken-fan', effect: 'Evict' } });
  await lab.report(node, 'Fans', 'False');
  await claim.says('Evicting');
  await tainted(lab, node, 'broken-fan');
  await lab.report(node, 'Fans', 'True');
  await claim.says('NotEvicting');
  await tainted(lab, node);
  assert.equal(claim.phase, 'Bound');
  // What other programs report has outlived everything that the operator wrote meanwhile.
  assert.equal(lab.server(node).condition('Fans')?.reason, 'Reported');
});

test('a rule with a faulty selector says so and taints nobody', async () => {
  await using lab = await openLab();
  const [node] = await availableNodes(lab, 1);
  const rule = await lab.rule('faulty', {
    conditions: burnIn,
    serverSelector: { matchExpressions: [{ key: 'rack', operator: 'Like', values: ['a*'] }] },
  });
  await rule.says('InvalidSelector');
  assert.equal(rule.condition('Ready')?.status, 'False');
  assert.match(
    rule.condition('Ready')?.message ?? '',
    /"Like" is no operator; expected In, NotIn, Exists or DoesNotExist/,
  );
  assert.deepEqual(taintsOf(lab, node), []);
  await lab.client.delete(ServerReadinessRule, { name: 'faulty' });
  await rule.isGone();
});

test('the example of the manual works as it is', async () => {
  await using lab = await openLab();
  const [node] = await availableNodes(lab, 1);
  const manual = await readFile(new URL('../../docs/operate/readiness.md', import.meta.url), 'utf8');
  const [, example = ''] = /```yaml\n(.*?)```/s.exec(manual) ?? [];
  const body: unknown = parse(example);
  assert.ok(typeof body === 'object' && body !== null);
  const path = `/apis/${ServerReadinessRule.apiVersion}/${ServerReadinessRule.plural}`;
  await lab.client.raw({ method: 'POST', path, body });
  await tainted(lab, node, 'not-burned-in');
  await lab.report(node, 'BurnIn', 'True');
  await tainted(lab, node);
});
