import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { type ContainerProcess, runContainer } from '@metal/container/run-container.ts';
import { freePort } from '@metal/controlplane/free-port.ts';
import type { ControlPlane } from '@metal/controlplane/running-control-plane.ts';
import { findHelm } from '@metal/project/helm.ts';
import { buildRelease } from '@metal/release/build-release.ts';
import { type Rendered, releaseNamespace } from '@metal/testenv/operator/chart.ts';
import { startCluster } from '@metal/testenv/cluster/cluster.ts';
import { startImageRegistry } from '@metal/testenv/network/image-registry.ts';
import { startImageServer } from '@metal/testenv/network/image-server.ts';
import { startRack } from '@metal/testenv/operator/installed-chart.ts';
import { examplesOf, openShell } from '@metal/testenv/cluster/page-commands.ts';
import { openRenderedPod } from '@metal/testenv/operator/rendered-pod.ts';
import { parse, stringify } from 'yaml';
import { merged } from '../fixtures/chart-value-sets.ts';

const run = promisify(execFile);
const version = '0.8.0';
const deployment = `apps/v1/namespaces/${releaseNamespace}/deployments/metal-operator-controller-manager`;
const log = (line: string) => void process.stderr.write(`${line}\n`);

test('the files of a release and the commands of the page take an empty cluster to a served claim', {
  timeout: 400_000,
}, async () => {
  const { sh, yaml } = await examplesOf('install.md', 'With Helm');
  const [push, install, addBmc, claim] = sh;
  const [values, bmc, claimFile] = yaml;
  assert.equal(sh.length, 4);
  const commands = sh.join('').trim().split('\n');
  assert.ok(commands.length <= 12, `${commands.length} commands`);

  await using stack = new AsyncDisposableStack();
  const cluster = stack.use(await startCluster({ crds: false }));
  const registry = stack.use(await startImageRegistry());
  const images = stack.use(await startImageServer());
  for (const path of ['os/vmlinuz', 'os/initrd']) images.serve(path, Buffer.from('x'.repeat(2_048)));
  const shell = stack.use(await openShell(cluster));
  await mkdir(join(shell.directory, '.config/containers'), { recursive: true });
  await shell.write(
    '.config/containers/registries.conf',
    `[[registry]]\nlocation = "${registry.host}"\ninsecure = true\n`,
  );
  const here = (text = '') =>
    text.replaceAll('registry.example', registry.host).replaceAll('http://192.0.2.3', images.url);
  const out = join(shell.directory, 'release');
  await buildRelease({
    out,
    build: { version, revision: 'abc123', createdSeconds: 86_400 },
    changelog: `## ${version}\n\n- A change.\n`,
    helm: await findHelm({ environment: process.env, log }),
    writeDiscoveryImage: writeSmallImage,
    log,
  });
  const startedAt = performance.now();
  const inRelease = (script: string) => shell.run(`cd release\n${script}`);
  await inRelease(here(push));
  const valuesFile = stringify(merged(parse(here(values)) as object, await valuesForProcesses(registry.host))); // an example of the page
  await shell.write('release/values.yaml', valuesFile);
  await inRelease(here(install));

  const testenv = stack.use(await startRack(cluster));
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  const { image } = (await testenv.client.raw<Rendered>({ method: 'GET', path: `/apis/${deployment}` })).spec?.template
    ?.spec.containers[0] ?? { image: '' };
  assert.match(image, new RegExp(`^${registry.host}/metal-operator@sha256:`));
  const rootDirectory = await pull(image, shell.directory);
  const pod = await openRenderedPod({ client: testenv.client, cluster, directory: shell.directory }, deployment);
  const { operator, bootUrl } = await startPod(rootDirectory, pod, cluster);
  stack.use(operator);
  testenv.fleet.setBootUrl(bootUrl);
  const reachable = (bmc ?? '')
    .replace('198.51.100.7', node.bmc.address)
    .replace('scheme: https, port: 443', `scheme: http, port: ${testenv.fleet.port}`)
    .replace('"…"', 'fleet-password');
  await shell.write('bmc.yaml', reachable);
  await shell.run(addBmc);
  await shell.write('claim.yaml', claimFile ?? '');
  assert.match(await shell.run(claim), /Reserved/);
  assert.equal(node.power, 'On');
  log(
    `${commands.length} commands, ${((performance.now() - startedAt) / 1_000).toFixed(0)} s from the files to a served claim`,
  );
  assert.deepEqual(
    operator.lines.filter((line) => /forbidden/i.test(line)),
    [],
  );
  assert.equal(await operator.stop(), 0);
});

/** Machines and pods are processes of this machine, and its registry speaks HTTP. */
async function valuesForProcesses(registryHost: string): Promise<object> {
  const [registry, boot, metrics, health] = [await freePort(), await freePort(), await freePort(), await freePort()];
  return {
    manager: { healthPort: health, args: [`--insecure-registries=${registryHost}`] },
    metrics: { port: metrics },
    registry: { port: registry, url: `http://127.0.0.1:${registry}` },
    boot: { port: boot, url: `http://127.0.0.1:${boot}` },
    bmc: { insecure: true },
  };
}

/** The simulated machine does not run it. */
async function writeSmallImage(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const file of ['vmlinuz', 'initrd', 'discovery.efi']) await writeFile(join(directory, file), file.repeat(500));
}

/** Pulls and unpacks the image of a pod, as a container runtime does. @returns its root directory. */
async function pull(image: string, directory: string): Promise<string> {
  const [layout, root] = [join(directory, 'pulled'), join(directory, 'root')];
  await run('skopeo', ['copy', '--src-tls-verify=false', `docker://${image}`, `dir:${layout}`]);
  const manifest = await readFile(join(layout, 'manifest.json'), 'utf8');
  const { layers } = JSON.parse(manifest) as { layers: { digest: string }[] }; // of the OCI image specification
  await mkdir(root);
  for (const { digest } of layers) await run('tar', ['-xpzf', join(layout, digest.replace('sha256:', '')), '-C', root]);
  return root;
}

async function startPod(
  rootDirectory: string,
  { args, env, mounts }: Awaited<ReturnType<typeof openRenderedPod>>,
  cluster: ControlPlane,
): Promise<{ operator: ContainerProcess; bootUrl: string }> {
  const { hostname, port } = new URL(cluster.url);
  const running = Promise.withResolvers<string>();
  const operator = await runContainer({
    rootDirectory,
    args,
    mounts,
    env: { ...env, KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
    onLine: (line) => {
      const bootUrl = line.includes('"msg":"running"') ? /"bootUrl":"([^"]+)"/.exec(line)?.[1] : undefined;
      if (bootUrl !== undefined) running.resolve(bootUrl);
    },
  });
  const ended = operator.ended.then((code) => assert.fail(`ended with ${code}: ${operator.lines.join('\n')}`));
  const bootUrl = await Promise.race([running.promise, ended]);
  ended.catch(() => undefined);
  return { operator, bootUrl };
}
