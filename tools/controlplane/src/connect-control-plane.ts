import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { findBinaries } from './binaries.ts';
import { writeUserKubeconfig } from './kubeconfig.ts';
import type { ControlPlaneAccess } from './running-control-plane.ts';
import { readAuthority } from './pki.ts';

/**
 * Connects to a control plane of another process by its data directory. Its roles must be ready. The result is valid until
 * that process ends it.
 */
export async function connectControlPlane(directory: string): Promise<ControlPlaneAccess> {
  const kubeconfigPath = join(directory, 'kubeconfig');
  // Written by `writeKubeconfig` of this package.
  const { clusters } = parse(await readFile(kubeconfigPath, 'utf8')) as { clusters: [{ cluster: { server: string } }] };
  const url = clusters[0].cluster.server;
  const authority = await readAuthority(directory);
  const caPem = authority.certificatePem;
  return {
    url,
    caPem,
    kubeconfigPath,
    binaries: await findBinaries(),
    kubeconfigFor: (user, groups = []) => writeUserKubeconfig({ directory, url, caPem }, authority, user, groups),
  };
}
