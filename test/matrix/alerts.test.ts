import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { dashboardQueries } from '@metal/testenv/assertions/queries.ts';
import { findPromtool } from '@metal/project/promtool.ts';
import { parse, stringify } from 'yaml';
import * as z from 'zod';

const run = promisify(execFile);
const log = (line: string) => void process.stderr.write(`${line}\n`);
const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const alert = z.object({
  alert: z.string(),
  expr: z.string(),
  for: z.string(),
  labels: z.object({ severity: z.enum(['warning', 'critical']) }),
  annotations: z.strictObject({ summary: z.string(), description: z.string() }),
});
const ruleFile = z.object({
  kind: z.literal('PrometheusRule'),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.object({ groups: z.array(z.object({ name: z.string(), interval: z.string(), rules: z.array(alert) })) }),
});

const { metadata, spec } = ruleFile.parse(parse(await readFile(file('deploy/prometheus/alerts.yaml'), 'utf8')));
const rules = spec.groups.flatMap((group) => group.rules);

test('the alert rules fire under their conditions and otherwise not', async () => {
  const promtool = await findPromtool({ environment: process.env, log });
  await using folder = await mkdtempDisposable(join(tmpdir(), 'metal-alerts-'));
  await writeFile(join(folder.path, 'rules.yaml'), stringify(spec));
  await copyFile(file('deploy/prometheus/alerts.test.yaml'), join(folder.path, 'alerts.test.yaml'));
  await run(promtool, ['check', 'rules', 'rules.yaml'], { cwd: folder.path });
  await run(promtool, ['test', 'rules', 'alerts.test.yaml'], { cwd: folder.path });
});

test('Prometheus parses every query of the dashboard', async () => {
  const promtool = await findPromtool({ environment: process.env, log });
  await using folder = await mkdtempDisposable(join(tmpdir(), 'metal-dashboard-'));
  const rules = (await dashboardQueries()).map(({ of, expression }, index) => ({
    record: `query:${index}`,
    expr: expression,
    labels: { of },
  }));
  await writeFile(join(folder.path, 'queries.yaml'), stringify({ groups: [{ name: 'dashboard', rules }] }));
  await run(promtool, ['check', 'rules', 'queries.yaml'], { cwd: folder.path });
});

test('rule, group and alerts have the names of v0.7.0, and every alert has a test case', async () => {
  assert.equal(metadata.name, 'metal-operator-server-alerts');
  assert.deepEqual(
    spec.groups.map(({ name, interval }) => `${name} ${interval}`),
    ['metal_operator_servers 30s'],
  );
  const names = new Map(rules.map((rule) => [rule.alert, `${rule.for} ${rule.labels.severity}`]));
  for (const [name, terms] of Object.entries(alertsOfV070)) assert.equal(names.get(name), terms, name);
  const cases = await readFile(file('deploy/prometheus/alerts.test.yaml'), 'utf8');
  const testedAlerts = [...cases.matchAll(/alertname(?:=|: ?)"?(\w+)/g)].map((match) => match[1]);
  assert.deepEqual(
    [...names.keys()].filter((name) => !testedAlerts.includes(name)),
    [],
  );
});

const alertsOfV070 = {
  NoAvailableServers: '5m warning',
  ServersInErrorState: '2m critical',
  ServersPoweringOnTooLong: '10m warning',
  ServersPoweringOffTooLong: '10m warning',
  HighReconciliationErrorRate: '5m warning',
  LowAvailableServerCapacity: '5m warning',
  ServerMetricsMissing: '5m critical',
  ServerReconciliationFailureSpike: '10m critical',
};

for (const { alert: name, annotations } of rules) {
  test(`${name} names an action for operators, and has a heading with details`, async () => {
    const page = await readFile(file('docs/operate/monitoring.md'), 'utf8');
    const headings = [...page.matchAll(/^### (.+)$/gm)].map(([, title]) => title);
    assert.ok(headings.includes(name), `monitoring.md has no heading ${name}`);
    assert.match(annotations.summary, /^\S.*\.$/);
    assert.match(annotations.description, /^\S.*\.$/);
  });
}
