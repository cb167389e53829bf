import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { writeChart } from './write-chart.ts';

const deploy = fileURLToPath(new URL('../../../../../deploy/', import.meta.url));
let chart: string;
before(async () => {
  chart = await mkdtemp(join(tmpdir(), 'metal-write-chart-'));
  await mkdir(join(chart, 'files/crds'), { recursive: true });
  await writeFile(join(chart, 'files/crds/former.yaml'), 'of an earlier version');
  await writeChart(chart);
});
after(() => rm(chart, { recursive: true }));

const filesBelow = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted();
const written = (path: string): Promise<string> => readFile(join(chart, path), 'utf8');
const source = (path: string): Promise<string> => readFile(join(deploy, path), 'utf8');

test('the chart has every CRD of deploy, with the policy that keeps it and no other change', async () => {
  const keep = '  annotations:\n    helm.sh/resource-policy: keep\n';
  for (const folder of ['crds', 'metal3/crds']) {
    const names = await filesBelow(join(deploy, folder));
    assert.ok(names.length > 10);
    assert.deepEqual(await filesBelow(join(chart, 'files', folder)), names, 'and none of an earlier version');
    for (const name of names) {
      const text = await written(`files/${folder}/${name}`);
      assert.equal(text.split(keep).length, 2, name);
      assert.equal(text.replace(keep, ''), await source(`${folder}/${name}`));
    }
  }
});

test('the chart has the admission policies and the dashboard of deploy, and the groups of its alerts', async () => {
  for (const folder of ['admission', 'metal3/admission']) {
    const names = await filesBelow(join(deploy, folder));
    assert.deepEqual(await filesBelow(join(chart, 'files', folder)), names);
    for (const name of names) assert.equal(await written(`files/${folder}/${name}`), await source(`${folder}/${name}`));
  }
  assert.equal(await written('files/metal-operator.json'), await source('grafana/metal-operator.json'));
  const { spec } = parse(await source('prometheus/alerts.yaml')) as { spec: { groups: unknown } };
  assert.deepEqual(parse(await written('files/alerts.yaml')), { groups: spec.groups });
});

test('the rest of the chart is deploy/chart, which has no copies', async () => {
  const files = (await filesBelow(chart)).filter((path) => !path.startsWith('files/'));
  assert.deepEqual(files, await filesBelow(join(deploy, 'chart')));
  assert.ok(!existsSync(join(deploy, 'chart/files')));
});
