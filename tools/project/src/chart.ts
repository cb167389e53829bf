import { writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { installManifest } from './generate/chart/install-manifest.ts';
import { writeChart } from './generate/chart/write-chart.ts';
import { findHelm } from './helm.ts';

const root = join(import.meta.dirname, '../../..');

await new Command('make chart')
  .usage('[options], as ARGS="--install-yaml"')
  .description('Writes the Helm chart with kinds, admission policies, alerts and dashboard. It needs no Helm.')
  .option('--out <directory>', 'receives metal-operator/ and install.yaml', join(root, '.chart'))
  .option(
    '--install-yaml',
    'also render install.yaml for kubectl. That needs Helm, which is built once unless $HELM names it',
    false,
  )
  .action(main)
  .parseAsync();

async function main(options: { out: string; installYaml: boolean }): Promise<void> {
  const out = resolve(options.out);
  const log = (line: string): void => void process.stdout.write(`${line}\n`);
  const chart = join(out, 'metal-operator');
  const shown = (path: string): string => relative(process.cwd(), path);
  await writeChart(chart);
  log(
    `${shown(chart)}  helm install metal-operator ${shown(chart)} --namespace metal-operator-system --create-namespace --values values.yaml`,
  );
  if (!options.installYaml) return;
  const { name, text } = await installManifest(await findHelm({ environment: process.env, log }), chart);
  await writeFile(join(out, name), text);
  log(`${shown(join(out, name))}  for a kustomization: docs/operate/install.md#with-one-manifest`);
}
