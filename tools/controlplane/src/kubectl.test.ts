import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { kubectlOf, openHome } from './home-for-tests.ts';
import { kubectlInPath, outputOf } from './kubectl.ts';

test('a directory named kubectl does not end the search in PATH', async () => {
  await using home = await openHome({ kubectl: kubectlOf('v1.36.0') });
  await mkdir(join(home.path, 'first/kubectl'), { recursive: true });
  const environment = { PATH: `${home.path}/first:${home.environment.PATH}` };
  assert.equal(await kubectlInPath(environment, 'v1.36.0'), join(home.path, 'bin/kubectl'));
});

test('relative entries of PATH are skipped', async () => {
  await using home = await openHome({ kubectl: kubectlOf('v1.36.0') });
  const environment = { PATH: relative(process.cwd(), join(home.path, 'bin')) };
  assert.equal(await kubectlInPath(environment, 'v1.36.0'), undefined);
});

test('a program that ignores SIGTERM ends at its time limit', { timeout: 10_000 }, async () => {
  await using home = await openHome({ kubectl: 'trap "" TERM\nexec sleep 30' });
  assert.equal(await outputOf(join(home.path, 'bin/kubectl'), [], home.environment, 200), undefined);
});
