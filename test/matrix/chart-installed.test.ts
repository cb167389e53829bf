import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kinds } from '@metal/api/kinds.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { CustomResourceDefinition, Secret } from '@metal/kube/kinds/builtin.ts';
import { freePort } from '@metal/controlplane/free-port.ts';
import { launchOperator, ownCommand, startOperatorProcess } from '@metal/project/operator-process.ts';
import { releaseNamespace } from '@metal/testenv/operator/chart.ts';
import { installChart, releaseName } from '@metal/testenv/operator/installed-chart.ts';
import { argsOutside, type RenderedPod } from '@metal/testenv/operator/rendered-pod.ts';

const manager = 'metal-operator-controller-manager';
const denials = (log: readonly string[]) =>
  log.filter((line) => /forbidden|cannot (?:get|list|watch|create|patch)/i.test(line));
const commandOf = (pod: RenderedPod): [string, ...string[]] => [ownCommand, ...argsOutside(pod)];

test('the installed pod takes a BMC to a served claim with the rights of the chart, through upgrade and uninstall', async () => {
  await using chart = await installChart();
  const { testenv, helm } = chart;
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  await chart.upgrade();
  const pod = await chart.pod(manager);
  await using operator = await startOperatorProcess({
    command: commandOf(pod),
    environment: { ...process.env, ...pod.env },
  });
  testenv.fleet.setBootUrl(operator.bootUrl);

  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  await testenv.client.create(Secret, {
    metadata: { name: 'first-boot', namespace: 'default' },
    data: { ignition: Buffer.from('{"ignition":{"version":"3.4.0"}}').toString('base64') },
  });
  const claim = await testenv.claim({ image: 'registry.test/os:1', ignitionSecretRef: { name: 'first-boot' } });
  await testenv.server(node).hasReason('ClaimServed');
  const powerBefore = [...node.powerLog];

  await chart.upgrade({ mode: 'shards' });
  assert.ok((await chart.pod(manager)).args.includes('--shards=auto'));
  assert.deepEqual(node.powerLog, powerBefore, 'no machine is switched');
  await claim.delete();
  await claim.isGone();
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(denials(operator.log), []);
  assert.equal(await operator.stop(), 0);

  await helm.run('uninstall', releaseName, '--namespace', releaseNamespace);
  const { items: crds } = await testenv.client.list(CustomResourceDefinition);
  assert.equal(crds.length, kinds.length, 'the kinds stay');
  assert.equal((await testenv.client.list(Server)).items.length, 1, 'and so do objects');
  const left = await testenv.client.raw<{ items: unknown[] }>({ method: 'GET', path: '/apis/apps/v1/deployments' });
  assert.deepEqual(left.items, []);
});

test('the pods of metadata and DHCP start with the rights of the chart', async () => {
  await using chart = await installChart();
  const port = await freePort();
  const [metadataHealth, dhcpHealth] = [await freePort(), await freePort()];
  await chart.upgrade({
    metrics: { enable: false },
    metadata: { enabled: true, mode: 'daemonSet', port, healthPort: metadataHealth, readBootKey: true },
    dhcp: {
      enabled: true,
      ranges: ['127.0.0.100-127.0.0.199/24'],
      endpointRange: ['127.0.0.0/8'],
      healthPort: dhcpHealth,
    },
  });
  const metadata = await chart.pod('metal-operator-metadata', 'daemonsets');
  await using service = await startOperatorProcess({ command: commandOf(metadata) });
  assert.equal((await fetch(`http://127.0.0.1:${metadataHealth}/readyz`)).status, 200);
  assert.deepEqual(denials(service.log), []);

  const dhcp = await chart.pod('metal-operator-dhcp');
  // Here is no network to serve: the files are those for dnsmasq.
  const [program, ...args] = commandOf({ ...dhcp, args: dhcp.args.map((arg) => arg.replace('=dnsmasq', '=files')) });
  const leads = Promise.withResolvers<void>();
  await using server = launchOperator({
    command: [program, ...args, `--dhcp-directory=${dhcp.mounts[0]?.source}/dhcp`],
    onLine: (line) => line.includes('DHCP answers known machines') && leads.resolve(),
  });
  await Promise.race([
    leads.promise,
    server.ended.then((code) => assert.fail(`ended with ${code}: ${server.log.join('\n')}`)),
  ]);
  assert.equal((await fetch(`http://127.0.0.1:${dhcpHealth}/readyz`)).status, 200);
  assert.deepEqual(denials(server.log), []);
});
