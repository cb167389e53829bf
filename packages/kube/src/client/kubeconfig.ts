import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse, YAMLParseError } from 'yaml';
import * as z from 'zod';
import { KubeError } from '../errors.ts';

/** API server of a pod's cluster: $KUBERNETES_SERVICE_HOST and $KUBERNETES_SERVICE_PORT. */
export interface HomeCluster {
  readonly host: string;
  readonly port: string;
}

const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Strict: an unknown field may change the user or the server, so it is not ignored. */
const clusterEntry = z.strictObject({
  server: z.url({ protocol: /^https?$/ }),
  'certificate-authority': z.string().optional(),
  'certificate-authority-data': z.base64().optional(),
  'insecure-skip-tls-verify': z.boolean().optional(),
  'tls-server-name': z.string().optional(),
});
const userEntry = z.strictObject({
  'client-certificate': z.string().optional(),
  'client-certificate-data': z.base64().optional(),
  'client-key': z.string().optional(),
  'client-key-data': z.base64().optional(),
  token: z.string().optional(),
  tokenFile: z.string().optional(),
});
const contextEntry = z.object({ cluster: z.string(), user: z.string() });
const named = { name: z.string() };
const kubeconfig = z.object({
  'current-context': z.string().optional(),
  contexts: z.array(z.object({ ...named, context: contextEntry })),
  clusters: z.array(z.object({ ...named, cluster: z.unknown() })),
  users: z.array(z.object({ ...named, user: z.unknown() })),
});

type Cluster = z.output<typeof clusterEntry>;
type User = z.output<typeof userEntry>;

/** Access by a pod's service account, or by a kubeconfig file of certificates and tokens; else undefined. */
export function nativeAccess({
  kubeconfigPath,
  context,
  homeCluster,
}: ClusterAccessOptions): ClusterAccess | undefined {
  if (kubeconfigPath !== undefined) return kubeconfigAccess(kubeconfigPath, context);
  return homeCluster === undefined ? undefined : inClusterAccess(homeCluster);
}

function inClusterAccess({ host, port }: HomeCluster): ClusterAccess {
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const cluster = { server, 'certificate-authority': `${serviceAccount}/ca.crt` };
  return accessTo(cluster, { tokenFile: `${serviceAccount}/token` }, serviceAccount);
}

function kubeconfigAccess(path: string, context: string | undefined): ClusterAccess | undefined {
  const file = kubeconfig.safeParse(contentOf(path)).data;
  const wanted = context ?? file?.['current-context'];
  const chosen = file?.contexts.find(({ name }) => name === wanted)?.context;
  if (file === undefined || chosen === undefined) return undefined;
  const cluster = clusterEntry.safeParse(file.clusters.find(({ name }) => name === chosen.cluster)?.cluster).data;
  const user = userEntry.safeParse(file.users.find(({ name }) => name === chosen.user)?.user).data;
  return cluster === undefined || user === undefined ? undefined : accessTo(cluster, user, dirname(path));
}

/** Drops the parser's message: it quotes the line, which may hold a key. */
function contentOf(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new KubeError({
      code: 'Unreachable',
      message: `kubeconfig ${path} ${describeError(error)}; give --kubeconfig a file that kubectl works with`,
    });
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof YAMLParseError))
    return `cannot be read: ${error instanceof Error ? error.message : 'unknown'}`;
  const [start] = error.linePos ?? [];
  return `is no YAML at line ${start?.line ?? '?'}, column ${start?.col ?? '?'}`;
}

function accessTo(cluster: Cluster, user: User, directory: string): ClusterAccess {
  return { server: cluster.server, credentials: () => readCredentials(cluster, user, directory) };
}

/** Reads the files each time: certificates and tokens are rotated in place. As in client-go, data precedes files. */
async function readCredentials(cluster: Cluster, user: User, directory: string): Promise<Credentials> {
  const read = async (data: string | undefined, path: string | undefined) => {
    if (data !== undefined && data !== '') return Buffer.from(data, 'base64');
    return path === undefined || path === '' ? undefined : readFile(resolve(directory, path));
  };
  const [ca, cert, key, token] = await Promise.all([
    read(cluster['certificate-authority-data'], cluster['certificate-authority']),
    read(user['client-certificate-data'], user['client-certificate']),
    read(user['client-key-data'], user['client-key']),
    tokenOf(user, directory),
  ]);
  const { 'insecure-skip-tls-verify': insecure, 'tls-server-name': servername } = cluster;
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(servername !== undefined && { servername }),
    ...(insecure !== undefined && { rejectUnauthorized: !insecure }),
    ...(token !== '' && { headers: { Authorization: `Bearer ${token}` } }),
  };
}

/** A token file precedes an inline token, as in client-go. */
async function tokenOf({ token = '', tokenFile = '' }: User, directory: string): Promise<string> {
  return tokenFile === '' ? token : (await readFile(resolve(directory, tokenFile), 'utf8')).trim();
}

/** TLS options for the API server, and headers with the credentials. */
export interface Credentials {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Access to one API server. */
export interface ClusterAccess {
  /** Its URL; undefined if none is configured. */
  readonly server: string | undefined;
  /** Current ones: tokens and credential programs are read again. */
  readonly credentials: () => Promise<Credentials>;
}

export interface ClusterAccessOptions {
  /** Kubeconfig file; without one: `homeCluster`, then what the library finds ($KUBECONFIG, ~/.kube/config, in-cluster). */
  readonly kubeconfigPath?: string | undefined;
  readonly context?: string | undefined;
  /** Cluster in which this pod runs. */
  readonly homeCluster?: HomeCluster | undefined;
}
