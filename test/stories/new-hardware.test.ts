import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { labsOfFile } from '@metal/lab/lab.ts';
import { parse } from 'yaml';

const openLab = labsOfFile();

/** The rule and the approval, as the manual has them. */
async function recipe(): Promise<{ rule: unknown; approval: unknown }> {
  const manual = await readFile(new URL('../../docs/operate/readiness.md', import.meta.url), 'utf8');
  const [, section = ''] = manual.split('## Approve new hardware');
  const [, rule = ''] = /```yaml\n(.*?)```/s.exec(section) ?? [];
  const [, approval = ''] = /<<END\n(.*?)\nEND\n/s.exec(section) ?? [];
  return { rule: parse(rule), approval: parse(approval) };
}

test('a new server is kept from claims until it is approved as the manual says', async () => {
  await using lab = await openLab();
  const { rule, approval } = await recipe();
  assert.ok(typeof rule === 'object' && rule !== null && typeof approval === 'object' && approval !== null);
  const path = `/apis/${ServerReadinessRule.apiVersion}/${ServerReadinessRule.plural}`;
  await lab.client.raw({ method: 'POST', path, body: rule });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  const { metadata } = await lab.server(node).says('Available');
  const isTainted = ({ spec }: Server) => (spec.taints ?? []).some(({ key }) => key === 'not-approved');
  await lab.server(node).until('has the taint', isTainted);
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await claim.subject.explains(/1 NotReady\(approved\)/);

  await lab.client.apply(
    Server,
    { ...approval, metadata: { name: metadata.name } },
    { fieldManager: 'approval', subresource: 'status', force: true },
  );
  await claim.reaches('Bound');
  await lab.server(node).until('has no taint', (server) => !isTainted(server));
});

test('a BMC that reports more systems than are allowed gets no Server, and says so', async () => {
  await using lab = await openLab({ flags: ['--max-systems-per-bmc=0'] });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.bmc(node).says('TooManySystems');
  assert.match(lab.bmc(node).condition('SystemsAccepted')?.message ?? '', /^it reports 1 systems, at most 0 per BMC/);
  const { type } = await lab.tells(node.name, 'TooManySystems', 'raise --max-systems-per-bmc');
  assert.equal(type, 'Warning');
  await lab.bmc(node).reaches('Enabled');
  assert.equal(lab.servers.size, 0);
});
