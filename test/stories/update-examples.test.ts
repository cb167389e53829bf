import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { firmwareImage } from '@metal/simulator/firmware-image.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { type ImageServer, startImageServer } from '@metal/testenv/network/image-server.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { serverName } from '../fixtures/settings-fixture.ts';

const startTestenv = testenvsOfFile();
const run = promisify(execFile);

const examplesFolder = new URL('../../deploy/examples/', import.meta.url);

/** The examples of a page, for one machine, the namespace of the test, and other replacements. */
async function examplesOf(page: string, node: Node, replacements: Readonly<Record<string, string>> = {}) {
  const text = await readFile(new URL(`../../docs/operate/${page}`, import.meta.url), 'utf8');
  const all = { 'node-0001': node.name, 'metal-operator-system': 'default', ...replacements };
  return [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, example = '']) =>
    Object.entries(all).reduce((result, [from, to]) => result.replaceAll(from, to), example),
  );
}

/** Resolves with what it prints to stderr, such as warnings. */
async function kubectl(
  testenv: Testenv,
  yaml: string | undefined,
  verb: 'apply' | 'delete',
  ...args: string[]
): Promise<string> {
  assert.ok(yaml !== undefined);
  const directory = await mkdtemp(join(tmpdir(), 'metal-examples-'));
  try {
    const file = join(directory, 'example.yaml');
    await writeFile(file, yaml);
    // kubectl keeps its cache in HOME.
    const env = { KUBECONFIG: testenv.kubeconfigPath, HOME: directory };
    const { stderr } = await run(testenv.cluster.binaries.kubectl, [verb, '-f', file, ...args], { env });
    return stderr;
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function label(testenv: Testenv, node: Node, models: { server?: string; bmc?: string }): Promise<void> {
  const of = (labels: Record<string, string>) => ({ metadata: { labels } });
  const { server, bmc } = models;
  if (server !== undefined) await testenv.client.mergePatch(Server, { name: serverName(node) }, of({ model: server }));
  if (bmc !== undefined) await testenv.client.mergePatch(BMC, { name: node.name }, of({ 'bmc-model': bmc }));
}

test('the examples of the page about settings are applied', async () => {
  await using testenv = await startTestenv();
  const [node, idrac] = await testenv.addNodes({ generic: 1, dell: 1 });
  assert.ok(node && idrac);
  await testenv.plugIn(node, idrac);
  for (const each of [node, idrac]) await testenv.server(each).hasReason('Available');
  const [bios, bmc, sets, ...others] = await examplesOf('settings.md', node);
  assert.equal(others.length, 0);
  const { biosSettings, bmcSettings } = testenv.updates;

  await kubectl(testenv, bios, 'apply');
  await biosSettings.named(`${node.name}-tuning`).reaches('Applied');
  const { WorkloadProfile, NumaGroupSize, ProcCStates, Sriov } = node.machine.biosAttributes;
  assert.deepEqual([WorkloadProfile, NumaGroupSize, ProcCStates, Sriov], ['Custom', 4, 'Disabled', true]);
  await kubectl(testenv, bmc, 'apply');
  await bmcSettings.named(`${node.name}-network`).reaches('Applied');
  await kubectl(testenv, bios, 'delete');
  await kubectl(testenv, bmc, 'delete');

  await label(testenv, node, { server: 'rackserver-1' });
  await label(testenv, idrac, { bmc: 'idrac' });
  await kubectl(testenv, sets, 'apply');
  await biosSettings.named(`tuning-${serverName(node)}`).reaches('Applied');
  const applied = await bmcSettings.named(`idrac-${idrac.name}`).reaches('Applied');
  assert.doesNotMatch(JSON.stringify(applied.status), /not-public/);
});

const checksum = /sha256:[0-9a-f]{64}/;

/** Serves the images that the page names, and gives its examples with their addresses. */
async function firmwareExamples(node: Node, images: ImageServer): Promise<string[]> {
  const examples = await examplesOf('firmware.md', node, { 'https://images.example.com': images.url });
  return examples.map((example) => {
    let hash = '';
    for (const [, component = '', version = ''] of example.matchAll(/(bios|bmc|nic)-([\d.]+)\.bin/g)) {
      const image = firmwareImage({ component: component.toUpperCase(), version });
      images.serve(`${component}-${version}.bin`, image);
      hash = createHash('sha256').update(image).digest('hex');
    }
    return example.replace(checksum, `sha256:${hash}`);
  });
}

test('the examples of the page about firmware are installed', async () => {
  await using stack = new AsyncDisposableStack();
  const flags = ['--bmc-reset-waiting-interval=5s', '--bmc-reset-resync-interval=5s'];
  // The image server of the test has a loopback address.
  flags.push('--refused-image-networks=192.0.2.0/24');
  const testenv = stack.use(await startTestenv({ flags }));
  const images = stack.use(await startImageServer({ username: 'fetcher', password: 'secret-1' }));
  const open = stack.use(await startImageServer());
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const [single, sets] = await firmwareExamples(node, open);
  const [, , proxied, ...others] = await firmwareExamples(node, images);
  assert.equal(others.length, 0);
  const { biosVersions, bmcVersions, firmwareVersions } = testenv.updates;
  const server = serverName(node);

  await kubectl(testenv, single, 'apply');
  await biosVersions.named(`${node.name}-bios`).reaches('Completed');
  await bmcVersions.named(`${node.name}-bmc`).reaches('Completed');
  await firmwareVersions.named(`${node.name}-nic`).reaches('Completed');
  await kubectl(testenv, single, 'delete');

  await label(testenv, node, { server: 'rackserver-1', bmc: 'openbmc' });
  await kubectl(testenv, sets, 'apply');
  await biosVersions.named(`bios-2-1-0-${server}`).reaches('Completed');
  await bmcVersions.named(`bmc-version-set-bmc-3-1-0-${node.name}`).reaches('Completed');
  await firmwareVersions.named(`e810-4-60-${server}`).reaches('Completed');
  await kubectl(testenv, sets, 'delete');
  // The control plane of the test has no garbage collector.
  await testenv.client.delete(BIOSVersion, { name: `bios-2-1-0-${server}` });
  await biosVersions.named(`bios-2-1-0-${server}`).isGone();

  await testenv.client.create(Secret, {
    metadata: { namespace: 'default', name: 'image-server' },
    data: { username: btoa('fetcher'), password: btoa('secret-1') },
  });
  await kubectl(testenv, proxied, 'apply');
  await biosVersions.named(`${node.name}-bios-by-proxy`).reaches('Completed');
  const installed = node.bmc.flashes.map(({ component, version }) => `${component.replace(/[\d/].*/, '')} ${version}`);
  assert.deepEqual(installed.toSorted(), [
    'BIOS 2.0.0',
    'BIOS 2.1.0',
    'BIOS 2.2.0',
    'BMC 3.0.0',
    'BMC 3.1.0',
    'NIC 4.50',
    'NIC 4.60',
  ]);
});

test('each file of deploy/examples is accepted under strict validation, without a warning', async () => {
  await using testenv = await startTestenv({ operator: 'none' });
  const files = (await readdir(examplesFolder)).filter((file) => file.endsWith('.yaml'));
  assert.ok(files.length > 0);
  for (const file of files) {
    const text = await readFile(new URL(file, examplesFolder), 'utf8');
    const warnings = await kubectl(testenv, text, 'apply', '--server-side', '--validate=strict');
    // Nothing else creates a BMC by its MAC address.
    assert.equal(warnings.replace(/^Warning: .* Endpoints are deprecated.*\n/gm, ''), '', file);
  }
});

test('bmc.yaml and claim.yaml of deploy/examples lead to a running machine', async () => {
  await using testenv = await startTestenv();
  const node = await testenv.fleet.add({ vendor: 'generic', password: 'fleet-password' });
  const [bmc = '', claim = ''] = await Promise.all(
    ['bmc.yaml', 'claim.yaml'].map((file) => readFile(new URL(file, examplesFolder), 'utf8')),
  );
  const reachable = bmc
    .replace('198.51.100.7', node.bmc.address)
    .replace('scheme: https, port: 443', `scheme: http, port: ${testenv.fleet.port}`)
    .replace('"…"', node.bmc.password);
  await kubectl(testenv, reachable, 'apply');
  await kubectl(testenv, claim.replace('example-os', 'registry.test/os:1'), 'apply');
  await testenv.claims.named('first').hasCondition('Ready', 'True');
  assert.equal((await testenv.claims.named('first').exists()).spec.serverRef?.name, 'rack1-node1-system-0');
  assert.equal(node.power, 'On');
});

test('the examples of the page about the installation are those of deploy/examples', async () => {
  const page = await readFile(new URL('../../docs/operate/install.md', import.meta.url), 'utf8');
  for (const file of ['bmc.yaml', 'claim.yaml']) {
    const example = await readFile(new URL(file, examplesFolder), 'utf8');
    assert.ok(page.includes(example.replaceAll(/^(?=.)/gm, '   ')), file);
  }
});

test('the example of the page about BareMetalHosts is that of deploy/examples', async () => {
  const [page, example] = await Promise.all(
    ['../../docs/operate/metal3.md', '../../deploy/examples/host.yaml'].map((file) =>
      readFile(new URL(file, import.meta.url), 'utf8'),
    ),
  );
  assert.ok(example !== undefined && page?.includes(example));
});
