import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { pinsFile, readPins } from './envtest.ts';
import { pinsFrom } from './envtest-releases.ts';
import { readRecipe } from './recipe.ts';

const platforms = ['darwin-amd64', 'darwin-arm64', 'linux-amd64', 'linux-arm64', 'linux-s390x'];

const releasesFile = (versions: readonly string[], hash = 'a'.repeat(128)): string =>
  stringify({
    releases: Object.fromEntries(
      versions.map((version) => [
        version,
        Object.fromEntries(
          platforms.map((name) => [`envtest-${version}-${name}.tar.gz`, { hash, selfLink: 'https://x' }]),
        ),
      ]),
    ),
  });

test('the newest release of the minor version is pinned', () => {
  const pins = pinsFrom(releasesFile(['v1.36.2', 'v1.36.10', 'v1.36.11-rc.0', 'v1.37.0']), 'v1.36');
  assert.equal(pins.version, 'v1.36.10');
  assert.deepEqual(Object.keys(pins.sha512), platforms.slice(0, 4));
});

test('a missing release, and a digest that is none, are errors', () => {
  assert.throws(() => pinsFrom(releasesFile(['v1.37.0']), 'v1.36'), /expected a release v1\.36\.x, found v1\.37\.0/);
  assert.throws(() => pinsFrom(releasesFile(['v1.36.0'], 'short'), 'v1.36'), /no SHA-512 for darwin-amd64, /);
});

test('the pins are those of the minor version of go.mod', async () => {
  const { version, sha512 } = await readPins(pinsFile);
  const { kubernetes } = await readRecipe(process.env);
  const minorOf = (text: string) => text.split('.').slice(0, 2).join('.');
  assert.equal(
    minorOf(version),
    minorOf(kubernetes),
    'run: node_modules/.bin/node tools/controlplane/src/update-envtest.ts',
  );
  assert.deepEqual(Object.keys(sha512), platforms.slice(0, 4));
  assert.doesNotMatch(await readFile(pinsFile, 'utf8'), /"[0-9a-f]{1,127}"/);
});
