import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import * as z from 'zod';

const deploy = fileURLToPath(new URL('../../../../../deploy/', import.meta.url));
const ruleFile = z.object({ spec: z.object({ groups: z.array(z.unknown()) }) });
const header = '# From deploy/prometheus/alerts.yaml.\n';

/**
 * Writes the chart: `deploy/chart`, and in `files` what its templates read from the rest of `deploy`. It needs no Helm. What was at the
 * place before is removed.
 */
export async function writeChart(to: string): Promise<void> {
  const from = (path: string): string => join(deploy, path);
  await rm(to, { recursive: true, force: true });
  await cp(from('chart'), to, { recursive: true });
  const files = join(to, 'files');
  for (const folder of ['crds', 'metal3/crds']) await copyKept(from(folder), join(files, folder));
  for (const folder of ['admission', 'metal3/admission'])
    await cp(from(folder), join(files, folder), { recursive: true });
  await cp(from('grafana/metal-operator.json'), join(files, 'metal-operator.json'));
  const { groups } = ruleFile.parse(parse(await readFile(from('prometheus/alerts.yaml'), 'utf8'))).spec;
  await writeFile(join(files, 'alerts.yaml'), `${header}${stringify({ groups }, { lineWidth: 0 })}`);
}

/** CRDs that Helm leaves in the cluster. The template takes these two lines out with `crd.keep: false`. */
async function copyKept(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) {
    const text = await readFile(join(from, name), 'utf8');
    const kept = text.replace(/^metadata:\n/m, 'metadata:\n  annotations:\n    helm.sh/resource-policy: keep\n');
    await writeFile(join(to, name), kept);
  }
}
