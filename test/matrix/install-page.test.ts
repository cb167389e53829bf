import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '@metal/controlplane/free-port.ts';
import { readConfig } from '@metal/metal-operator/command-line.ts';
import { installManifest } from '@metal/project/generate/chart/install-manifest.ts';
import { findHelm } from '@metal/project/helm.ts';
import { ownCommand, startOperatorProcess } from '@metal/project/operator-process.ts';
import { Helm } from '@metal/testenv/operator/chart.ts';
import { startCluster } from '@metal/testenv/cluster/cluster.ts';
import { examplesOf, openShell } from '@metal/testenv/cluster/page-commands.ts';
import { parse, stringify } from 'yaml';

test('install.yaml is applied with the kustomization of the page', async () => {
  const { sh, yaml } = await examplesOf('install.md', 'With one manifest');
  await using cluster = await startCluster({ crds: false });
  await using shell = await openShell(cluster);
  await using helm = await Helm.open();
  const program = await findHelm({ environment: process.env, log: () => undefined });
  await shell.write('install.yaml', (await installManifest(program, helm.chart)).text);
  await shell.write('kustomization.yaml', yaml[0] ?? '');
  await shell.run(sh[0]);
  const name = 'metal-operator-controller-manager';
  const text = await shell.run(`kubectl get deployment -n metal-operator-system ${name} -o yaml`);
  const [container] = (
    parse(text) as { spec: { template: { spec: { containers: [{ image: string; args: string[] }] } } } }
  ).spec.template.spec.containers;
  assert.match(container.image, /^registry\.example\/team\/metal-operator:/);
  const { registry, operator } = readConfig(container.args, {});
  assert.equal(registry.url, 'http://192.0.2.9:10000');
  assert.equal(operator.probeOsImage, 'registry.example/team/discovery:1');
});

test('the commands of the page install by hand, and the operator starts with its account and options', async () => {
  const { sh, yaml } = await examplesOf('install.md', 'By hand');
  const [kinds, account, start, ...others] = sh;
  const [macPrefixes, images] = yaml;
  assert.deepEqual(others, []);
  await using cluster = await startCluster({ crds: false });
  await using shell = await openShell(cluster);
  await shell.run(kinds);
  await shell.run(account);
  const token = await shell.run('kubectl create token metal-operator --namespace metal-operator-system');
  const kubeconfig = parse(await shell.run('kubectl config view --raw --output json')) as {
    users: { user: object }[];
  };
  for (const entry of kubeconfig.users) entry.user = { token: token.trim() };
  await shell.write('kubeconfig', stringify(kubeconfig));
  await shell.write('mac-prefixes.yaml', macPrefixes ?? '');
  await shell.write('images.yaml', images ?? '');
  const [program, ...options] = (start ?? '').replaceAll('\\\n', ' ').trim().split(/\s+/);
  assert.equal(program, 'metal-operator');
  const args = options.map((option) => (option.endsWith('.yaml') ? join(shell.directory, option) : option));
  const here = ['--registry-port=0', '--boot-port=0', '--metrics-bind-address=127.0.0.1:0', '--zap-encoder=json'];
  const places = [
    `--health-probe-bind-address=127.0.0.1:${await freePort()}`,
    `--kubeconfig=${shell.directory}/kubeconfig`,
  ];
  await using operator = await startOperatorProcess({ command: [ownCommand, ...args, ...here, ...places] });
  assert.deepEqual(
    operator.log.filter((line) => /forbidden/i.test(line)),
    [],
  );
  assert.equal(await operator.stop(), 0);
});

test('the values of the page about migration are accepted', async () => {
  const { yaml } = await examplesOf('migrate.md', 'With Helm');
  await using helm = await Helm.open();
  await helm.render(parse(yaml[0] ?? '') as object); // an example of the page
});
