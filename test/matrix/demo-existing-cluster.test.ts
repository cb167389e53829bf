import assert from 'node:assert/strict';
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { kinds } from '@metal/api/kinds.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
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
/** Temporary directory of the demos, which only a killed one leaves something in. */
let temporary: string;
const stack = new AsyncDisposableStack();

before(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'metal-demo-test-'));
  stack.defer(() => rm(temporary, { recursive: true }));
  stack.defer(async () => assert.deepEqual(await readdir(temporary), []));
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

type DemoProcess = ChildProcessByStdio<null, Readable, Readable>;

const real = { metadata: { name: 'real' }, spec: { systemUUID: '38947555-7742-3448-3784-823347823834' } };

/** As another person would, in the order that gives the least time. */
async function installReal(): Promise<Server> {
  await installKinds(client, [Server]);
  return (await client.find(Server, { name: 'real' })) ?? client.create(Server, real);
}

/** Runs the demo on the cluster; `onOutput` may end it. */
async function runDemo(args: readonly string[], onOutput = (_text: string, _child: DemoProcess) => {}): Promise<Ended> {
  const child = spawn(process.execPath, [demo, '--kubeconfig', plane.kubeconfigPath, '--servers', '2', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: temporary },
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      onOutput(text, child);
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

test('a tour in an existing cluster leaves it as it was', async () => {
  const unchanged = await state();
  const { code, stdout, stderr } = await runDemo(['--once', '--yes', '--tour', 'day2']);
  assert.equal(code, 0, stderr);
  assert.match(stdout, new RegExp(`server +${plane.url}\n +context +metal\n`));
  assert.match(stdout, new RegExp(`kinds +${kinds.length} CustomResourceDefinitions: `));
  assert.match(stdout, /✔ .*delete the claim/);
  assert.deepEqual(await state(), unchanged);
});

test('Ctrl-C, a second one too, leaves the cluster as it was', async () => {
  const unchanged = await state();
  const { code, stdout, stderr } = await runDemo(['--yes'], (text, child) => {
    if (!text.includes('Discovery')) return;
    child.kill('SIGINT');
    child.kill('SIGHUP');
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

test('an output that nobody reads leaves the cluster as it was', async () => {
  const unchanged = await state();
  const { code } = await runDemo(['--yes'], (text, { stdout }) => {
    if (text.includes('Discovery')) stdout.destroy();
  });
  assert.equal(code, 1);
  assert.deepEqual(await state(), unchanged);
});

test('after kill -9 a second run is refused, and --remove leaves the cluster as it was', async () => {
  const unchanged = await state();
  await runDemo(['--yes'], (text, child) => void (text.includes('start 2 simulated') && child.kill('SIGKILL')));
  for (const name of await readdir(temporary)) await rm(join(temporary, name), { recursive: true });
  const refused = await runDemo(['--once', '--yes']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /found what another demo has made: .*repeat the command with --remove/);
  const { code, stderr } = await runDemo(['--remove', '--yes']);
  assert.equal(code, 0, stderr);
  assert.deepEqual(await state(), unchanged);
});

test('a server that appears while the demo runs ends it, and stays as it is, with the kinds', async () => {
  let created: Promise<Server> | undefined;
  const { code, stderr } = await runDemo(['--yes'], (text) => {
    if (text.includes('Discovery')) created ??= client.create(Server, real);
  });
  assert.equal(code, 1);
  assert.match(stderr, /found server\/real, which may be a real server; the operator of the demo was ended at once/);
  assert.match(stderr, /found .*server\/real; they stay as they are, and so do the kinds/);
  const { metadata } = await client.get(Server, { name: 'real' });
  assert.equal(metadata.uid, (await created)?.metadata.uid);
  assert.equal(metadata.deletionTimestamp, undefined);
  const { items } = await client.list(CustomResourceDefinition);
  assert.equal(items.length, kinds.length);
  await client.mergePatch(Server, { name: 'real' }, { metadata: { finalizers: null } });
  await client.delete(Server, { name: 'real' });
  assert.equal((await runDemo(['--remove', '--yes'])).code, 0);
});

test('a server that appears while the demo installs is not changed', async () => {
  let installed: Promise<unknown> | undefined;
  const { code, stderr } = await runDemo(['--yes'], (text) => {
    if (text.includes('The demo runs in')) installed ??= installReal();
  });
  const before = await installed;
  assert.equal(code, 1);
  assert.match(stderr, /expected /);
  assert.deepEqual(await client.get(Server, { name: 'real' }), before);
});

test('a cluster with a kind of the product is refused, and its objects stay', async () => {
  await installReal();
  const unchanged = await state();
  const { code, stderr } = await runDemo(['--once', '--yes']);
  assert.equal(code, 1);
  assert.match(stderr, /found CustomResourceDefinition .*; the demo would act on what is there/);
  assert.deepEqual(await state(), unchanged);
  assert.ok(await client.find(Server, { name: 'real' }));
});
