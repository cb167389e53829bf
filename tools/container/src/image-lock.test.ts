import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { repository } from './bundle.ts';
import { differenceOf, readLock } from './image-lock.ts';
import { packages } from './recipe.ts';

const of = (name: string, version: string) => ({ name, version, sha256: version.repeat(64), fileName: `${name}.deb` });

test('packages that were changed, added or removed are listed', () => {
  assert.deepEqual(
    differenceOf([of('a', '1'), of('b', '1'), of('c', '1')], [of('a', '1'), of('b', '2'), of('d', '1')]),
    ['  b: 1 (111111111111) → 2 (222222222222)', '  c: 1 (111111111111) → none', '  d: none → 1 (111111111111)'],
  );
});

test('the lock file has the packages of the recipe and the Node of the project', async () => {
  const lock = await readLock();
  assert.deepEqual(lock.packages.map(({ name }) => name).toSorted(), Object.values(packages).flat().toSorted());
  const text = await readFile(join(repository, 'package.json'), 'utf8');
  // Written by this project.
  const { devDependencies } = JSON.parse(text) as { devDependencies: { node: string } };
  assert.equal(lock.node.version, devDependencies.node);
});
