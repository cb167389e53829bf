import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { arrangeFiles } from './arranged-files.ts';
import { readTestTimes, testTimesVariable } from './test-times.ts';

const project = join(dirname(fileURLToPath(import.meta.url)), '../../..');

/** A folder that looks like the project to the files that it arranges. */
async function temporaryRoot() {
  const path = await mkdtemp(join(tmpdir(), 'metal-arranged-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

const names = (count: number, word: string) => Array.from({ length: count }, (_, index) => `${word}-${index}.test.ts`);
const weighted = (paths: readonly string[], weightOf = (_index: number) => 1) =>
  paths.map((path, index) => ({ path, weight: weightOf(index) }));

test('a short list stays as it is, in its order', async () => {
  await using root = await temporaryRoot();
  const [tables, others] = [names(2, 'table'), names(3, 'story')];
  const arranged = await arrangeFiles(root.path, { tables, others: weighted(others), timeoutMs: 1 });
  assert.deepEqual(
    arranged.map(({ file, paths }) => [file, ...paths]),
    [...tables, ...others].map((path) => [join(root.path, path), path]),
  );
});

test('each file of a long list is in one group, and groups weigh about the same', async () => {
  await using root = await temporaryRoot();
  const [tables, others] = [names(30, 'table'), names(100, 'story')];
  const weightOf = (index: number) => (index * 37) % 100;
  const arranged = await arrangeFiles(root.path, { tables, others: weighted(others, weightOf), timeoutMs: 1 });
  assert.deepEqual(arranged.flatMap(({ paths }) => paths).toSorted(), [...tables, ...others].toSorted());
  const weights = arranged
    .filter(({ paths }) => paths[0]?.startsWith('story') === true)
    .map(({ paths }) => paths.reduce((sum, path) => sum + weightOf(others.indexOf(path)), 0));
  assert.ok(weights.length > 1 && Math.max(...weights) - Math.min(...weights) < 100, weights.join());
  const files = arranged.map(({ file }) => file);
  assert.deepEqual(files, files.toSorted(), 'node:test runs them in the order of their names');
});

test('the hooks of a file in a group are those of its own tests, and its processor time is recorded', async () => {
  await using root = await temporaryRoot();
  const others = names(20, 'story');
  await mkdir(join(root.path, 'tools/project'), { recursive: true });
  const suites = new URL('suite-of-file.ts', import.meta.url).href;
  const body = (name: string) => `
    import { after, before, test } from 'node:test';
    before(() => console.log('before ${name}'));
    after(() => console.log('after ${name}'));
    test('of ${name}', () => console.log('test ${name}'));`;
  await Promise.all(others.map((path) => writeFile(join(root.path, path), body(path))));
  const [group] = await arrangeFiles(root.path, { tables: [], others: weighted(others), timeoutMs: 10_000 });
  assert.ok(group);
  const [first, second] = group.paths;
  const text = await readFile(group.file, 'utf8');
  await writeFile(group.file, text.replace(/file:\S+suite-of-file\.ts/, suites));
  const times = join(root.path, 'times');
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const { status, stdout } = spawnSync(process.execPath, [group.file], {
    cwd: project,
    env: { ...environment, [testTimesVariable]: times },
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout);
  const hooks = stdout.split('\n').filter((line) => /^(?:before|test|after) /.test(line));
  assert.deepEqual(
    hooks,
    [first, second].flatMap((path) => [`before ${path}`, `test ${path}`, `after ${path}`]),
  );
  assert.deepEqual(
    readTestTimes(times).map(({ file }) => file),
    [first, second],
  );
});
