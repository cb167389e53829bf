import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { freePort } from '@metal/controlplane/free-port.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { alertQueries, dashboardQueries, metricsIn } from '@metal/testenv/assertions/queries.ts';
import { directoryWith } from '@metal/testenv/cluster/service-fixture.ts';

const startTestenv = testenvsOfFile();

test('a process exports every metric used by dashboard and alert rules, with one series per server and state', async () => {
  await using testenv = await startTestenv({
    operator: 'none',
    speed: 1,
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 200 },
  });
  const port = await freePort();
  await using scratch = await directoryWith({});
  await using _operator = await testenv.startOperatorProcess([
    `--metrics-bind-address=127.0.0.1:${port}`,
    '--metrics-secure=false',
    '--components=controllers,registry,boot,metadata,dhcp',
    '--dhcp=files',
    `--dhcp-directory=${scratch.path}/dhcp`,
    '--metadata-port=0',
    '--event-url=http://127.0.0.1',
    '--event-port=0',
  ]);
  const nodes = await testenv.addNodes({ generic: 2 });
  await testenv.plugIn(...nodes);
  for (const node of nodes) await testenv.server(node).hasReason('Available');
  const [node] = nodes;
  assert.ok(node);
  const claim = await testenv.claim({ image: 'registry.test/os:1', on: node });
  await claim.watched.hasCondition('Booted', 'True');
  await testenv.server(node).hasReason('ClaimServed');
  const waiting = await testenv.claim({ image: 'registry.test/os:1', on: node });
  await waiting.watched.hasReason('NoServerMatches');

  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const exported = namesIn(text);
  const queries = [...(await dashboardQueries()), ...(await alertQueries())];
  const missing = queries.flatMap((query) =>
    metricsIn(query)
      .filter((name) => !exported.has(name))
      .map((name) => `${query.of}: ${name}`),
  );
  assert.deepEqual(missing, []);
  const withoutMetrics = queries.filter((query) => metricsIn(query).length === 0 && !query.expression.includes('up{'));
  assert.deepEqual(withoutMetrics, [], 'every query uses a metric');

  const families = [...text.matchAll(/^# TYPE (metal_\w+) /gm)].map((match) => match[1]);
  const page = await readFile(new URL('../../docs/operate/monitoring.md', import.meta.url), 'utf8');
  const documented = page.split('## Alerts')[0]?.match(/\bmetal_\w+\b/g) ?? [];
  assert.deepEqual(new Set(documented), new Set(families), 'the page lists exactly the exported metrics');

  const [held, free] = nodes.map((each) => testenv.server(each).now?.metadata.name ?? '');
  for (const [name, state] of [
    [held, 'Reserved'],
    [free, 'Available'],
  ]) {
    const series = text.match(new RegExp(`^metal_server_state\\{server="${name}".*$`, 'gm')) ?? [];
    assert.equal(series.length, 11, 'one series per state');
    assert.deepEqual(
      series.filter((line) => line.endsWith(' 1')),
      [`metal_server_state{server="${name}",state="${state}"} 1`],
    );
  }
  assert.match(text, new RegExp(`^metal_server_power_state\\{server="${held}",power_state="On"\\} 1$`, 'm'));
  assert.match(text, /^metal_server_reconciliation_total\{result="success"\} [1-9]/m);
  assert.match(text, /^metal_server_discovery_duration_seconds_count 2$/m);
  assert.match(text, /^metal_claim_bind_duration_seconds_count 1$/m);
  assert.match(text, /^metal_claim_boot_duration_seconds_count 1$/m);
  assert.match(text, /^metal_claim_unbound_since_timestamp_seconds\{claim="claim-2",claim_namespace="default"\} \d+/m);
  assert.match(text, new RegExp(`^metal_bmc_open_sessions\\{bmc="${node.name}"\\} 1$`, 'm'));
  const series = text.split('\n').map((line) => line.slice(0, line.lastIndexOf(' ')));
  const samples = series.filter((line) => line !== '' && !line.startsWith('#'));
  assert.equal(new Set(samples).size, samples.length, 'no series occurs twice');
});

test('a deleted object has no metrics', { timeout: 60_000 }, async (t) => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const { metadata } = await testenv.server(node).hasReason('Available');
  const metrics = () => testenv.system.metrics.metrics();
  assert.match(await metrics(), new RegExp(`server="${metadata.name}"[^]*bmc="${node.name}"`));
  await testenv.client.delete(Endpoint, { name: node.name });
  await testenv.client.delete(BMC, { name: node.name });
  await testenv.bmc(node).isGone();
  await testenv.client.delete(Server, metadata);
  await testenv.server(node).isGone();
  const left = async () => (await metrics()).split('\n').filter((line) => line.includes(`"${node.name}`));
  // The operator receives deletions on its own watches, perhaps later than the test environment; only a scrape shows
  // it.
  const { signal } = t;
  while ((await left()).length > 0 && !signal.aborted) await nextTick();
  assert.deepEqual(await left(), []);
});

/** Names of all series, histograms with their parts. */
function namesIn(text: string): Set<string> {
  const families = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    families.flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}
