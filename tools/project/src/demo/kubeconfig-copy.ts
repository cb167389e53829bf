import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { loadClusterAccess } from '@metal/kube/client/cluster-access.ts';
import { DemoFailed } from './demo-failed.ts';

const pathFields = new Set(['certificate-authority', 'client-certificate', 'client-key', 'tokenFile']);

export interface KubeconfigCopy {
  readonly path: string;
  readonly context: string;
  readonly server: string;
}

/**
 * A copy in the directory, for all connections of a demo: when somebody selects another context while it runs, nothing of it
 * reaches that cluster.
 */
export async function copyKubeconfig(file: string, directory: string): Promise<KubeconfigCopy> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new DemoFailed(`expected a kubeconfig file, cannot read ${file}: ${String(error)}`);
  });
  const absolute = (key: unknown, value: unknown): unknown =>
    pathFields.has(String(key)) && typeof value === 'string' && value !== '' ? resolve(dirname(file), value) : value;
  // `loadClusterAccess` validates the rest.
  const content = parse(text, absolute) as { 'current-context'?: string } | null;
  const path = join(directory, 'kubeconfig');
  await writeFile(path, stringify(content), { mode: 0o600 });
  const { server } = loadClusterAccess({ kubeconfigPath: path });
  if (server === undefined) throw new DemoFailed(`expected a current context with a cluster in ${file}, found none`);
  return { path, server, context: content?.['current-context'] ?? '' };
}
