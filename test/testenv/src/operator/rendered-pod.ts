import { chmod, chown, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ControlPlaneAccess } from '@metal/controlplane/running-control-plane.ts';
import { ConfigMap, Secret } from '@metal/kube/kinds/builtin.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Rendered, Volume } from './chart.ts';

/** What a kubelet does for a pod, without a kubelet: its volumes are directories, and its account has a token. */
export interface RenderedPod {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly mounts: readonly { readonly source: string; readonly target: string; readonly readOnly: boolean }[];
  /** The same as a kubeconfig, for a process outside. */
  readonly kubeconfigPath: string;
}

/** Of the image; files of the pods belong to their group. */
const user = 65_532;
const accountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

interface Place {
  readonly client: KubeClient;
  readonly cluster: ControlPlaneAccess;
  /** Has to be emptied by the caller. */
  readonly directory: string;
}

/** The pod of a workload that is installed. `workload` is its place: `apps/v1/namespaces/x/deployments/y`. */
export async function openRenderedPod({ client, cluster, directory }: Place, workload: string): Promise<RenderedPod> {
  const { metadata, spec: workloadSpec } = await client.raw<Rendered>({ method: 'GET', path: `/apis/${workload}` });
  const namespace = metadata.namespace ?? '';
  if (workloadSpec?.template === undefined) throw new Error(`${workload} is no workload`);
  const { spec } = workloadSpec.template;
  const [container] = spec.containers;
  const home = await mkdtemp(join(directory, 'pod-'));
  await chmod(home, 0o755);
  const sources = new Map<string, string>();
  for (const volume of spec.volumes ?? [])
    sources.set(volume.name, await openVolume(volume, { client, namespace, home }));
  const mounts = (container.volumeMounts ?? []).map(({ name, mountPath, readOnly = false }) => ({
    source: sources.get(name) ?? '',
    target: mountPath,
    readOnly,
  }));
  const token = await tokenOf(client, namespace, spec.serviceAccountName);
  const account = join(home, 'account');
  const credentials = { token, 'ca.crt': cluster.caPem, namespace };
  for (const [name, text] of Object.entries(credentials)) await writeOwned(join(account, name), text);
  const kubeconfigPath = join(home, 'kubeconfig');
  await writeFile(kubeconfigPath, kubeconfigWith(cluster, token));
  return {
    args: container.args,
    env: Object.fromEntries((container.env ?? []).map(({ name, value = '' }) => [name, value])),
    mounts: [...mounts, { source: account, target: accountDirectory, readOnly: true }],
    kubeconfigPath,
  };
}

/** Arguments for a process on this machine: paths of volumes are those of their directories. */
export const argsOutside = ({ args, mounts, kubeconfigPath }: RenderedPod): string[] => [
  ...args.map((arg) => mounts.reduce((text, { source, target }) => text.replace(`=${target}`, `=${source}`), arg)),
  `--kubeconfig=${kubeconfigPath}`,
];

interface VolumePlace {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly home: string;
}

async function openVolume({ name, projected }: Volume, { client, namespace, home }: VolumePlace): Promise<string> {
  const path = join(home, name);
  await mkdir(path);
  await giveToGroup(path, 0o770);
  for (const { secret, configMap } of projected?.sources ?? []) {
    const source = secret ?? configMap;
    if (source === undefined) continue;
    const data =
      secret === undefined
        ? await textsOf(client, namespace, source.name)
        : await bytesOf(client, namespace, source.name);
    for (const { key, path: file } of source.items) {
      const content = data[key];
      if (content !== undefined) await writeOwned(join(path, file), content);
      else if (source.optional !== true) throw new Error(`${source.name} has no ${key}: the pod would not start`);
    }
  }
  return path;
}

const textsOf = async (client: KubeClient, namespace: string, name: string): Promise<Record<string, string | Buffer>> =>
  (await client.get(ConfigMap, { namespace, name })).data ?? {};

async function bytesOf(client: KubeClient, namespace: string, name: string): Promise<Record<string, string | Buffer>> {
  const { data = {} } = await client.get(Secret, { namespace, name });
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64')]));
}

async function writeOwned(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  await giveToGroup(path, 0o440);
}

/** As fsGroup does; only root can. */
async function giveToGroup(path: string, mode: number): Promise<void> {
  await chmod(path, mode);
  if (process.getuid?.() === 0) await chown(path, 0, user);
}

async function tokenOf(client: KubeClient, namespace: string, account: string): Promise<string> {
  const { status } = await client.raw<{ status: { token: string } }>({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  });
  return status.token;
}

const kubeconfigWith = ({ url, caPem }: ControlPlaneAccess, token: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'c', cluster: { server: url, 'certificate-authority-data': Buffer.from(caPem).toString('base64') } },
    ],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
