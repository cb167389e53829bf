import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { parse } from 'yaml';

const startTestenv = testenvsOfFile();

/** The rule and the approval from the documentation. */
async function recipe(): Promise<{ rule: unknown; approval: unknown }> {
  const manual = await readFile(new URL('../../docs/operate/readiness.md', import.meta.url), 'utf8');
  const [, section = ''] = manual.split('## Approve new hardware');
  const [, rule = ''] = /```yaml\n(.*?)```/s.exec(section) ?? [];
  const [, approval = ''] = /<<END\n(.*?)\nEND\n/s.exec(section) ?? [];
  return { rule: parse(rule), approval: parse(approval) };
}

test('a new server is not claimable until it is approved as documented', async () => {
  await using testenv = await startTestenv();
  const { rule, approval } = await recipe();
  assert.ok(typeof rule === 'object' && rule !== null && typeof approval === 'object' && approval !== null);
  const path = `/apis/${ServerReadinessRule.apiVersion}/${ServerReadinessRule.plural}`;
  await testenv.client.raw({ method: 'POST', path, body: rule });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const { metadata } = await testenv.server(node).hasReason('Available');
  const isTainted = ({ spec }: Server) => (spec.taints ?? []).some(({ key }) => key === 'not-approved');
  await testenv.server(node).until('has the taint', isTainted);
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await claim.watched.hasMessage(/1 NotReady\(approved\)/);

  await testenv.client.apply(
    Server,
    { ...approval, metadata: { name: metadata.name } },
    { fieldManager: 'approval', subresource: 'status', force: true },
  );
  await claim.reaches('Bound');
  await testenv.server(node).until('has no taint', (server) => !isTainted(server));
});

test('a BMC with more systems than --max-systems-per-bmc gets no Server and reports TooManySystems', async () => {
  await using testenv = await startTestenv({ flags: ['--max-systems-per-bmc=0'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.bmc(node).hasReason('TooManySystems');
  assert.match(
    testenv.bmc(node).condition('SystemsAccepted')?.message ?? '',
    /^it reports 1 systems, and at most 0 are expected/,
  );
  const { type } = await testenv.hasEvent(node.name, 'TooManySystems', 'raise --max-systems-per-bmc');
  assert.equal(type, 'Warning');
  await testenv.bmc(node).reaches('Enabled');
  assert.equal(testenv.servers.size, 0);
});
