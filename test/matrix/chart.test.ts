import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readConfig } from '@metal/metal-operator/command-line.ts';
import { effectiveValues } from '@metal/project/generate/chart/chart-values.ts';
import { installManifest } from '@metal/project/generate/chart/install-manifest.ts';
import { findHelm } from '@metal/project/helm.ts';
import { foundIn, Helm, podOf, type Rendered, releaseNamespace } from '@metal/testenv/operator/chart.ts';
import { completed, merged, requiredValues, valueAt, valueSets, valuesOfV070 } from '../fixtures/chart-value-sets.ts';
import { parseAllDocuments } from 'yaml';

const root = fileURLToPath(new URL('../../', import.meta.url));
const manager = 'metal-operator-controller-manager';
let helm: Helm;
before(async () => {
  helm = await Helm.open();
});
after(() => helm[Symbol.asyncDispose]());

const render = (values: object): Promise<Rendered[]> => helm.render(completed(values));
const argsOf = async (values: object): Promise<string[]> =>
  podOf(await render(values), manager).spec.containers[0].args;
const rejects = (values: object, message: RegExp): Promise<void> => assert.rejects(render(values), message);

/** The only file that is read before all options are known. */
const withAuthority = (args: readonly string[]): string[] =>
  args.map((arg) => arg.replace(/^--bmc-ca-file=.*/, `--bmc-ca-file=${helm.chart}/Chart.yaml`));

const envOf = (objects: readonly Rendered[], name: string): Record<string, string> =>
  Object.fromEntries(
    (podOf(objects, name).spec.containers[0].env ?? []).map((entry) => [entry.name, entry.value ?? '192.0.2.9']),
  );

for (const [name, values] of Object.entries(valueSets)) {
  test(`Helm accepts the chart and the operator its arguments: ${name}`, async () => {
    await helm.with(completed(values), 'lint', '--strict', '--quiet', helm.chart);
    const objects = await render(values);
    for (const { metadata, spec } of objects) {
      if (spec?.template === undefined) continue;
      const { args } = podOf(objects, metadata.name).spec.containers[0];
      assert.doesNotThrow(
        () => readConfig(withAuthority(args), envOf(objects, metadata.name)),
        `${metadata.name} ${args.join(' ')}`,
      );
      const flags = args.filter((arg) => !arg.startsWith('--static-metadata')).map((arg) => arg.split('=')[0]);
      assert.deepEqual(flags, [...new Set(flags)], 'no option is given twice');
    }
  });
}

test('every value of the chart is tested with another value than its default', () => {
  const untested = effectiveValues.filter(({ path, default: fallback, schema }) => {
    const others = Object.values(valueSets)
      .map((values) => valueAt(completed(values), path))
      .filter((found) => found !== undefined && JSON.stringify(found) !== JSON.stringify(fallback));
    return others.length === 0 && !('const' in schema);
  });
  assert.deepEqual(
    untested.map(({ path }) => path),
    [],
  );
});

test('values of v0.7.0 are accepted, keep names and selector, and the notes name those without effect', async () => {
  const objects = await helm.render(valuesOfV070);
  const deployment = foundIn(objects, 'Deployment', manager);
  assert.deepEqual(deployment?.spec?.selector, {
    matchLabels: { 'app.kubernetes.io/name': 'metal-operator', 'control-plane': 'controller-manager' },
  });
  assert.ok(foundIn(objects, 'Service', 'metal-registry'));
  assert.ok(foundIn(objects, 'Service', 'metal-operator-controller-manager-metrics-service'));
  assert.equal(foundIn(objects, 'Role', 'metal-operator-manager')?.metadata.namespace, 'default');
  const { args } = podOf(objects, manager).spec.containers[0];
  const { operator, registry } = readConfig(args, {});
  assert.equal(operator.macPrefixesFile, '/etc/macdb/macdb.yaml');
  assert.deepEqual([registry.port, registry.auth], [30_000, 'none']);
  const notes = await helm.with(valuesOfV070, 'install', 'metal-operator', helm.chart, '--dry-run=client');
  assert.match(notes, /without effect: webhook, metaldata, image, flags, sshPublicKey, passwordHash/);
  assert.match(notes, /WARNING: manager\.resources\.limits\.memory is 128Mi/);
});

test('a key that the chart does not know is refused with its place', async () => {
  await rejects({ manager: { replica: 2 } }, /at '\/manager': additional properties 'replica' not allowed/);
  await rejects({ boot: { cache: { sizes: '1Gi' } } }, /at '\/boot\/cache': additional properties 'sizes'/);
  await rejects({ cleanup: { disks: 'Some' } }, /at '\/cleanup\/disks'/);
  await rejects({ rbac: { namespaced: true } }, /at '\/rbac\/namespaced'/);
});

test('an option comes from a value or from manager.args, and from both only while the value has its default', async () => {
  const withArgs = (args: string[], values: object = {}) => argsOf(merged(values, { manager: { args } }));
  assert.ok((await withArgs(['--cleanup-disks=Purge'])).at(-1) === '--cleanup-disks=Purge');
  assert.deepEqual(
    (await withArgs(['-leader-elect', '--registry-auth=none'])).filter((arg) => /leader-elect|registry-auth/.test(arg)),
    ['-leader-elect', '--registry-auth=none'],
  );
  const both = { cleanup: { disks: 'Clear' } };
  await rejects(
    merged(both, { manager: { args: ['--cleanup-disks=Purge'] } }),
    /manager\.args has --cleanup-disks, which is also set by cleanup\.disks \(Clear\): use one of them/,
  );
  await rejects({ manager: { args: ['--boot-port=9'] } }, /also set by boot\.port \(8082\): use the value/);
  await rejects({ manager: { args: ['--shards=auto'] } }, /set mode to shards/);
});

test('values that contradict each other, and those without which nothing works, are refused', async () => {
  await assert.rejects(helm.render({}), /discovery\.probeImage is empty/);
  await assert.rejects(helm.render({ discovery: requiredValues.discovery }), /registry\.url is empty/);
  await rejects({ mode: 'single' }, /set manager\.replicas to 1/);
  await rejects({ events: { enabled: true } }, /events\.url is empty/);
  await rejects({ bmc: { insecure: true, tls: 'pin' } }, /bmc\.tls is pin: use one of them/);
  await rejects({ ignition: { override: true } }, /ignition\.template is empty/);
  await rejects({ serviceAccount: { name: 'x' } }, /set serviceAccount\.enable to false/);
  await rejects({ dhcp: { enabled: true } }, /dhcp\.ranges is empty/);
  await rejects({ metadata: { enabled: true, mode: 'daemonSet', auth: 'token' } }, /metadata\.readBootKey/);
});

test('rights follow what is switched on', async () => {
  const namesOf = async (values: object): Promise<string[]> =>
    (await render(values))
      .filter(({ kind }) => kind.includes('Role'))
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  const all = await namesOf({});
  assert.ok(!all.some((name) => /ignition|update-reader|user-data|boot-key|dhcp/.test(name)), 'no Secret of a tenant');
  const cluster = await namesOf({ ignition: { readSecrets: 'cluster' }, updates: { readSecrets: ['a', 'b'] } });
  assert.deepEqual(cluster.filter((name) => !all.includes(name)).toSorted(), [
    'ClusterRole metal-operator-ignition-reader',
    'ClusterRole metal-operator-update-reader',
    'ClusterRoleBinding metal-operator-ignition-reader',
    'RoleBinding metal-operator-update-reader',
    'RoleBinding metal-operator-update-reader',
  ]);
  const rulesWith = async (values: object) =>
    JSON.stringify(foundIn(await render(values), 'ClusterRole', 'metal-operator-manager-role')?.rules);
  const writesScripts = /"ipxebootconfigs"[^}]*"create"/;
  assert.match(await rulesWith({}), writesScripts);
  assert.doesNotMatch(await rulesWith({ boot: { enabled: false } }), writesScripts);
});

test('the pods restart with another MAC prefix, and nothing outside the Secret depends on its passwords', async () => {
  const workloadsFor = async (macPrefix: string, password: string) => {
    const defaultCredentials = [{ username: 'admin', password }];
    const discovery = { ...requiredValues.discovery, macPrefixes: [{ macPrefix, defaultCredentials }] };
    const objects = await render({ discovery });
    return JSON.stringify(objects.filter(({ kind }) => kind !== 'Secret'));
  };
  assert.equal(await workloadsFor('3CECEF', 'one'), await workloadsFor('3CECEF', 'two'));
  assert.notEqual(await workloadsFor('3CECEF', 'one'), await workloadsFor('3CECE0', 'one'));
});

test('alerts link to their headings, and the job of the ServiceMonitor is the one that they name', async () => {
  const objects = await render(valueSets.monitoring ?? {});
  const rules = JSON.stringify(objects.filter(({ kind }) => kind === 'PrometheusRule'));
  assert.match(rules, /"runbook_url":"https:\/\/docs\.example\/operate\/monitoring\.html#noavailableservers"/);
  assert.match(
    JSON.stringify(objects.filter(({ kind }) => kind === 'ServiceMonitor')),
    /"replacement":"metal-operator"/,
  );
});

test('the kinds stay when a release is uninstalled, unless crd.keep is false', async () => {
  const crds = async (values: object) =>
    (await render(values)).filter(({ kind }) => kind === 'CustomResourceDefinition');
  const keeps = (object: Rendered) => JSON.stringify(object.metadata).includes('"helm.sh/resource-policy":"keep"');
  const kept = await crds({});
  assert.ok(kept.length > 20 && kept.every(keeps));
  assert.ok(!(await crds({ crd: { keep: false } })).some(keeps));
});

test('install.yaml has its namespace first, every kind and policy of deploy, and nothing that only Helm understands', async () => {
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const { name, text } = await installManifest(await findHelm({ environment: process.env, log }), helm.chart);
  assert.equal(name, 'install.yaml');
  // The project's own manifest, by both versions of YAML.
  const [objects, others] = (['1.1', '1.2'] as const).map((version) =>
    parseAllDocuments(text, { version }).map((document) => document.toJS() as Rendered),
  );
  assert.deepEqual(objects, others);
  assert.deepEqual([objects?.[0]?.kind, objects?.[0]?.metadata.name], ['Namespace', releaseNamespace]);
  for (const [folder, kind] of [
    ['crds', 'CustomResourceDefinition'],
    ['admission', 'ValidatingAdmissionPolicy'],
    ['admission', 'ValidatingAdmissionPolicyBinding'],
  ] as const) {
    const found = objects?.filter((object) => object.kind === kind);
    assert.deepEqual(found?.toSorted(byName), (await objectsIn(folder, kind)).toSorted(byName), kind);
  }
  assert.ok(foundIn(objects ?? [], 'Deployment', manager));
  assert.doesNotMatch(text, /helm\.sh\/|managed-by: Helm/);
});

const byName = (one: Rendered, other: Rendered): number => (one.metadata.name < other.metadata.name ? -1 : 1);

/** The objects of a kind in a folder of `deploy`. */
async function objectsIn(folder: string, kind: string): Promise<Rendered[]> {
  const names = await readdir(join(root, 'deploy', folder));
  const texts = await Promise.all(names.map((name) => readFile(join(root, 'deploy', folder, name), 'utf8')));
  return texts
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Rendered))
    .filter((object) => object.kind === kind);
}

test('the source of the chart, without what make chart adds, is refused with the remedy', async () => {
  const source = join(root, 'deploy/chart');
  await assert.rejects(
    helm.with(completed({}), 'template', 'metal-operator', source),
    /found no kinds, policies and alerts.*Run make chart, and use \.chart\/metal-operator/,
  );
});
