import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { kinds } from '@metal/api/kinds.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { startControlPlane } from '@metal/controlplane/control-plane.ts';
import type { ControlPlane } from '@metal/controlplane/running-control-plane.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { installKinds } from '@metal/kube/client/install-kinds.ts';
import { CustomResourceDefinition } from '@metal/kube/kinds/builtin.ts';

const run = promisify(execFile);
const demo = fileURLToPath(import.meta.resolve('@metal/project/demo.ts'));
const observed = [
  'namespaces',
  'customresourcedefinitions',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'clusterroles',
  'clusterrolebindings',
  'roles',
  'rolebindings',
  'events',
  'secrets',
  'configmaps',
  'leases',
].join(',');

let plane: ControlPlane;
let client: KubeClient;
const stack = new AsyncDisposableStack();

before(async () => {
  // With kube-controller-manager: only it removes namespaces.
  plane = stack.use(await startControlPlane({ controllerManager: true }));
  await plane.rolesReady();
  client = stack.use(createKubeClient({ kubeconfigPath: plane.kubeconfigPath, defaultFieldManager: 'test' }));
});
after(() => stack.disposeAsync());

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the demo on the cluster; `onOutput` may end it. */
async function runDemo(args: readonly string[], onOutput = (_text: string, _end: () => void) => {}): Promise<Ended> {
  const child = spawn(process.execPath, [demo, '--kubeconfig', plane.kubeconfigPath, '--servers', '2', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      onOutput(text, () => child.kill('SIGINT'));
    });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
}

/** Objects of the cluster, without those that Kubernetes itself makes in its namespaces. */
async function state(): Promise<string[]> {
  const columns = 'custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name,UID:.metadata.uid';
  const args = ['--kubeconfig', plane.kubeconfigPath, 'get', observed, '-A', '--no-headers', '-o', columns];
  const { stdout } = await run(plane.binaries.kubectl, args);
  return stdout.split('\n').filter((line) => !line.includes(' kube-'));
}

test('a tour in an existing cluster leaves it as it was, with the kinds that were there', async () => {
  await installKinds(client, kinds.slice(0, 2));
  const unchanged = await state();
  const { code, stdout, stderr } = await runDemo(['--once', '--yes']);
  assert.equal(code, 0, stderr);
  assert.match(stdout, new RegExp(`server +${plane.url}\n +context +metal\n`));
  assert.match(stdout, new RegExp(`kinds +${kinds.length - 2} CustomResourceDefinitions: `));
  assert.match(stdout, /These kinds are there and stay, without objects: \w+, \w+\n/);
  assert.match(stdout, /✔ .*delete the claim/);
  assert.deepEqual(await state(), unchanged);
});

test('Ctrl-C, a second one too, leaves the cluster as it was', async () => {
  const unchanged = await state();
  const { code, stdout, stderr } = await runDemo(['--yes'], (text, end) => {
    if (!text.includes('Discovery')) return;
    end();
    end();
  });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /remove everything from the cluster/);
  assert.deepEqual(await state(), unchanged);
});

test('a step that fails leaves the cluster as it was', async () => {
  const unchanged = await state();
  const { code, stderr } = await runDemo(['--once', '--yes', '--tour', 'metal3', '--timeout', '1']);
  assert.equal(code, 1);
  assert.match(stderr, /demo: expected "every host is available" within 1 s/);
  assert.deepEqual(await state(), unchanged);
});

test('without a terminal and without --yes nothing is changed', async () => {
  const unchanged = await state();
  const { code, stderr } = await runDemo(['--once']);
  assert.equal(code, 2);
  assert.match(stderr, /nothing was changed: expected a terminal for the confirmation, or --yes/);
  assert.deepEqual(await state(), unchanged);
});

test('a cluster with objects of the product is refused, and its objects stay', async () => {
  await installKinds(client, [Endpoint]);
  await client.create(Endpoint, {
    metadata: { name: 'real' },
    spec: { macAddress: '02:00:00:00:00:01', ip: '192.0.2.1' },
  });
  const unchanged = await state();
  const { code, stderr } = await runDemo(['--once', '--yes']);
  assert.equal(code, 1);
  assert.match(stderr, /expected no objects of metal-operator in the cluster, found 1 endpoints; /);
  assert.deepEqual(await state(), unchanged);
  assert.ok(await client.find(Endpoint, { name: 'real' }));
  assert.ok(await client.find(CustomResourceDefinition, { name: 'endpoints.metal.ironcore.dev' }));
});
