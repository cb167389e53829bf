import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installManifest } from './generate/chart/install-manifest.ts';
import { writeChart } from './generate/chart/write-chart.ts';
import { findBuiltHelm } from './helm.ts';

/** Writes the chart and, where Helm was built before, renders install.yaml; returns why one of them fails. */
export async function findChartProblem(environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'metal-check-chart-'));
  const chart = join(directory.path, 'metal-operator');
  try {
    await writeChart(chart);
    const helm = await findBuiltHelm(environment);
    if (helm !== undefined) await installManifest(helm, chart);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
