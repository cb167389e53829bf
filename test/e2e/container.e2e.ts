import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { buildContainer } from '@metal/container/build-container.ts';
import { type ContainerProcess, type RunOptions, runContainer } from '@metal/container/run-container.ts';
import { freePort } from '@metal/controlplane/free-port.ts';
import { bindRolesTo } from '@metal/testenv/cluster/roles.ts';
import { createToken } from '@metal/testenv/cluster/service-accounts.ts';
import { startTestenv, type Testenv } from '@metal/testenv/testenv.ts';
import * as z from 'zod';

const log = (line: string) => void process.stderr.write(`${line}\n`);
const account = 'operator-in-a-pod';
/** Of a namespace in OpenShift, which nothing in the image knows. */
const arbitraryUser = { uid: 1_000_650_000, gid: 0 };
const graceMs = 30_000;
let directory = '';
let rootDirectory = '';

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'metal-container-e2e-'));
  await chmod(directory, 0o755);
  ({ rootDirectory } = await buildContainer({ out: join(directory, 'image'), log }));
});
after(() => rm(directory, { recursive: true, force: true }));

interface Pod extends AsyncDisposable {
  readonly operator: ContainerProcess;
  readonly health: string;
  readonly metricsPort: number;
  /** The directory that it has as /tmp. */
  readonly temporary: string;
}

/** What a kubelet mounts for the service account, and the files that a Deployment mounts. */
async function writeFiles(testenv: Testenv, volume: string): Promise<void> {
  const texts = {
    'account/token': await createToken(testenv.client, account),
    'account/ca.crt': testenv.cluster.caPem,
    'account/namespace': 'default',
    'config/prefixes.yaml': testenv.fleet.macPrefixFile(),
    'config/vmlinuz': 'kernel\n'.repeat(64),
    'config/initrd': 'initrd\n'.repeat(64),
    'config/images.json': JSON.stringify({
      'probe-os': { kernel: '/etc/metal-operator/vmlinuz', initrd: '/etc/metal-operator/initrd' },
    }),
    'config/kubeconfig': kubeconfigWithProgram(testenv, await createToken(testenv.client, account)),
  };
  for (const folder of ['account', 'config', 'tmp']) await mkdir(join(volume, folder), { recursive: true });
  for (const [name, text] of Object.entries(texts)) await writeFile(join(volume, name), text);
  await chmod(join(volume, 'tmp'), 0o1777);
}

interface PodOptions extends Pick<RunOptions, 'runtime'> {
  readonly flags?: readonly string[];
}

async function startPod(testenv: Testenv, { flags = [], ...options }: PodOptions = {}): Promise<Pod> {
  const volume = await mkdtemp(join(directory, 'volumes-'));
  await chmod(volume, 0o755);
  await writeFiles(testenv, volume);
  const [health, metrics, registry, boot] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const running = Promise.withResolvers<string>();
  const { hostname: host, port } = new URL(testenv.cluster.url);
  const operator = await runContainer({
    rootDirectory,
    ...arbitraryUser,
    ...options,
    env: { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port },
    mounts: [
      { source: join(volume, 'account'), target: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true },
      { source: join(volume, 'config'), target: '/etc/metal-operator', readOnly: true },
      { source: join(volume, 'tmp'), target: '/tmp' },
    ],
    args: [
      '--leader-elect',
      '--mac-prefixes-file=/etc/metal-operator/prefixes.yaml',
      '--boot-images=/etc/metal-operator/images.json',
      '--probe-image=probe',
      '--probe-os-image=probe-os',
      '--protocol=http',
      `--registry-url=http://127.0.0.1:${registry}`,
      `--registry-port=${registry}`,
      `--boot-url=http://127.0.0.1:${boot}`,
      `--boot-port=${boot}`,
      `--health-probe-bind-address=127.0.0.1:${health}`,
      `--metrics-bind-address=127.0.0.1:${metrics}`,
      '--zap-encoder=json',
      ...flags,
    ],
    onLine: (line) => {
      const parsed = runningLine.safeParse(parse(line));
      if (parsed.success) running.resolve(parsed.data.bootUrl);
    },
  });
  const fail = (code: number) => running.reject(new Error(`ended with ${code}:\n${operator.lines.join('\n')}`));
  operator.ended.then(fail, running.reject);
  testenv.fleet.setBootUrl(await running.promise);
  return {
    operator,
    health: `http://127.0.0.1:${health}`,
    metricsPort: metrics,
    temporary: join(volume, 'tmp'),
    [Symbol.asyncDispose]: () => operator[Symbol.asyncDispose](),
  };
}

const runningLine = z.object({ msg: z.literal('running'), bootUrl: z.string() });

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}

/** Credentials by a program, which only the client library can read; the program is the only one of the image. */
function kubeconfigWithProgram({ cluster }: Testenv, token: string): string {
  const apiVersion = 'client.authentication.k8s.io/v1';
  const credential = JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token } });
  const exec = { apiVersion, interactiveMode: 'Never', command: '/usr/bin/node', args: ['--print', `'${credential}'`] };
  const authority = Buffer.from(cluster.caPem).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: cluster.url, 'certificate-authority-data': authority } }],
    users: [{ name: 'u', user: { exec } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
}

const statusOfMetrics = (port: number): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    // The certificate is self-signed.
    const options = { host: '127.0.0.1', port, path: '/metrics', rejectUnauthorized: false, agent: false };
    request(options, (response) => resolve(response.resume().statusCode))
      .once('error', reject)
      .end();
  });

const startWithAccount = async (): Promise<Testenv> => {
  const testenv = await startTestenv({
    operator: 'none',
    speed: 1,
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 200 },
  });
  await bindRolesTo(testenv.client, account);
  return testenv;
};

test('a pod with a read-only root and any user leads, discovers a server, leaves /tmp empty and ends in time', async () => {
  await using testenv = await startWithAccount();
  await using pod = await startPod(testenv);
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  assert.equal((await fetch(`${pod.health}/readyz`)).status, 200);
  assert.equal(await statusOfMetrics(pod.metricsPort), 401, 'metrics have a certificate and require a token');
  assert.match(pod.operator.lines[0] ?? '', /"version":"\d+\.\d+\.\d+","revision":"[0-9a-f]{40}(?:-modified)?"/);
  assert.deepEqual(await readdir(pod.temporary), []);
  const startedAt = performance.now();
  assert.equal(await pod.operator.stop(), 0);
  assert.ok(performance.now() - startedAt < graceMs);
  assert.equal(node.bmc.openSessions, 0, 'the session was closed');
  assert.deepEqual(
    pod.operator.lines.filter((line) => line.includes('Forbidden')),
    [],
  );
});

test('a kubeconfig whose credentials come from a program works in the image, also under bwrap', async () => {
  await using testenv = await startWithAccount();
  await using pod = await startPod(testenv, {
    flags: ['--kubeconfig=/etc/metal-operator/kubeconfig'],
    runtime: 'bwrap',
  });
  assert.equal((await fetch(`${pod.health}/readyz`)).status, 200);
});
