import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tool } from '@metal/discovery-image/tool.ts';
import { writeChart } from '@metal/project/generate/chart/write-chart.ts';
import { parseDocument } from 'yaml';

export interface ChartOptions {
  readonly version: string;
  /** Of the images, by their values in the chart. */
  readonly digests: Readonly<Record<'manager' | 'dhcp', string>>;
}

/** The chart with the version and the images of the release. */
export async function copyChart(to: string, { version, digests }: ChartOptions): Promise<void> {
  await writeChart(to);
  await setIn(join(to, 'Chart.yaml'), { version, appVersion: version });
  await setIn(join(to, 'values.yaml'), {
    'manager.image.digest': digests.manager,
    'dhcp.image.digest': digests.dhcp,
  });
}

/** Comments stay: values.yaml is what users read. */
async function setIn(file: string, values: Readonly<Record<string, string>>): Promise<void> {
  const document = parseDocument(await readFile(file, 'utf8'));
  for (const [path, value] of Object.entries(values)) document.setIn(path.split('.'), value);
  await writeFile(file, document.toString({ lineWidth: 0 }));
}

/** Writes `NAME-VERSION.tgz`. `tool` sets the time that Helm gives to the files, so that equal charts have equal bytes. */
export async function packageChart(helm: string, chart: string, out: string): Promise<void> {
  await tool(helm, ['package', chart, '--destination', out]);
}
