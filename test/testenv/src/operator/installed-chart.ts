import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@metal/controlplane/free-port.ts';
import type { ControlPlane } from '@metal/controlplane/running-control-plane.ts';
import { parse } from 'yaml';
import { Helm, releaseNamespace } from './chart.ts';
import { type Cluster, startCluster } from '../cluster/cluster.ts';
import { type ImageServer, startImageServer } from '../network/image-server.ts';
import { openRenderedPod, type RenderedPod } from './rendered-pod.ts';
import { startTestenv, type Testenv } from '../testenv.ts';

export const releaseName = 'metal-operator';

/** A cluster with the chart and nothing else of the product, and a rack. */
export interface InstalledChart extends AsyncDisposable {
  readonly cluster: ControlPlane;
  readonly testenv: Testenv;
  readonly helm: Helm;
  /** Upgrades the release to these values, besides those that the rack needs. */
  upgrade(values?: object): Promise<void>;
  pod(name: string, plural?: 'deployments' | 'daemonsets'): Promise<RenderedPod>;
}

/** A rack for an operator that a chart installed, in real time. */
export const startRack = (cluster: Cluster): Promise<Testenv> =>
  startTestenv({
    cluster,
    operator: 'none',
    speed: 1,
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 200 },
    asAdministrator: 'the account and the roles are those of the chart',
  });

export async function installChart(): Promise<InstalledChart> {
  const stack = new AsyncDisposableStack();
  try {
    const cluster = stack.use(await startCluster({ crds: false }));
    const helm = stack.use(await Helm.open(cluster.kubeconfigPath));
    const images = stack.use(await startImageServer());
    const directory = await mkdtemp(join(tmpdir(), 'metal-chart-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    await chmod(directory, 0o755);
    const values = await valuesFor(images);
    const release = [releaseName, helm.chart, '--namespace', releaseNamespace];
    await helm.with(values, 'install', ...release, '--create-namespace');
    const testenv = stack.use(await startRack(cluster));
    const { client } = testenv;
    return {
      cluster,
      testenv,
      helm,
      upgrade: async (more = {}) => {
        const { macPrefixes } = parse(testenv.fleet.macPrefixFile()) as { macPrefixes: object[] }; // of the simulator
        const discovery = { ...values.discovery, macPrefixes };
        await helm.with({ ...values, ...more, discovery }, 'upgrade', ...release);
      },
      pod: (name, plural = 'deployments') =>
        openRenderedPod({ client, cluster, directory }, `apps/v1/namespaces/${releaseNamespace}/${plural}/${name}`),
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** Machines and pods are processes of this machine, which share its ports. */
async function valuesFor(images: ImageServer) {
  const [registry, boot, metrics, health] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const image = {
    kernel: images.serve('vmlinuz', Buffer.from('kernel\n'.repeat(64))),
    initrd: images.serve('initrd', Buffer.from('initrd\n'.repeat(64))),
  };
  return {
    manager: { healthPort: health },
    discovery: { probeImage: 'probe', osImage: 'probe-os' },
    bmc: { insecure: true },
    metrics: { port: metrics },
    registry: { port: registry, url: `http://127.0.0.1:${registry}` },
    boot: {
      port: boot,
      url: `http://127.0.0.1:${boot}`,
      images: { 'probe-os': image, 'registry.test/os:1': image },
    },
    ignition: { readSecrets: ['default'] },
    prometheus: { serviceAccount: { name: 'prometheus', namespace: 'default' } },
  };
}
