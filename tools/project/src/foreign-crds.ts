import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as z from 'zod';

const run = promisify(execFile);
const directory = fileURLToPath(new URL('../foreign-crds', import.meta.url));
const certManager = { module: 'github.com/cert-manager/cert-manager', folder: 'deploy/crds' };
const prometheusOperator = {
  module: 'github.com/prometheus-operator/prometheus-operator',
  folder: 'example/prometheus-operator-crd',
};
const files = [
  { ...certManager, name: 'cert-manager.io_certificates.yaml' },
  { ...certManager, name: 'cert-manager.io_issuers.yaml' },
  { ...prometheusOperator, name: 'monitoring.coreos.com_prometheusrules.yaml' },
  { ...prometheusOperator, name: 'monitoring.coreos.com_servicemonitors.yaml' },
];
const download = z.object({ Path: z.string(), Dir: z.string() });

/** Files with the CRDs of cert-manager and of the Prometheus Operator that the chart has objects of, from their Go modules. */
export async function foreignCrds(): Promise<string[]> {
  const modules = [certManager.module, prometheusOperator.module];
  const { stdout } = await run('go', ['mod', 'download', '-json', ...modules], { cwd: directory });
  const downloads = stdout
    .split(/^(?=\{)/m)
    .filter((text) => text !== '')
    .map((text) => download.parse(JSON.parse(text)));
  return files.map(({ module, folder, name }) => {
    const found = downloads.find(({ Path }) => Path === module);
    if (found === undefined) throw new Error(`go downloads no ${module}`);
    return `${found.Dir}/${folder}/${name}`;
  });
}
