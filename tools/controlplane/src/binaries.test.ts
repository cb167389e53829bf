import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, watch, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { findBinaries } from './binaries.ts';

/** A home directory without a cache, with a script as `go`. */
async function homeWithGo(script: string | undefined) {
  const path = await mkdtemp(join(tmpdir(), 'metal-control-plane-test-'));
  await mkdir(join(path, 'bin'));
  if (script !== undefined) await writeFile(join(path, 'bin/go'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const systemPath = script === undefined ? '' : ':/bin:/usr/bin';
  return {
    path,
    environment: { PATH: `${join(path, 'bin')}${systemPath}`, HOME: path, XDG_CACHE_HOME: join(path, 'cache') },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

// Builds by touching files, and notes each build.
const building = `
if [ "$1" = env ]; then echo go1.26.8; exit; fi
echo built >> "$HOME/builds"
while [ "$1" != -o ]; do shift; done
touch "$2/server" "$2/kube-apiserver" "$2/kube-controller-manager" "$2/kubectl"`;

test('concurrent processes build the programs once', async () => {
  await using home = await homeWithGo(building);
  const { environment } = home;
  const found = await Promise.all([1, 2, 3].map(() => findBinaries({ environment })));
  assert.equal(new Set(found.map(({ directory }) => directory)).size, 1);
  assert.equal(await readFile(join(home.path, 'builds'), 'utf8'), 'built\n');
  assert.ok(found.every(({ etcd, controllerManager }) => existsSync(etcd) && controllerManager !== undefined));
});

test('a finished build is used again, without Go', async () => {
  await using home = await homeWithGo(building);
  const { directory } = await findBinaries({ environment: home.environment });
  await rm(join(home.path, 'bin/go'));
  assert.equal((await findBinaries({ environment: home.environment })).directory, directory);
  assert.match(directory, /kubernetes-v1\.36\.3-etcd-v3\.6\.\d+-/);
});

test('the lock and the partial build of a killed process do not block a build', async () => {
  await using home = await homeWithGo(building);
  const { directory } = await findBinaries({ environment: home.environment });
  await rm(directory, { recursive: true });
  await mkdir(`${directory}.partial-1`);
  await writeFile(`${directory}.lock`, '4194305');
  await findBinaries({ environment: home.environment });
  const left = await readdir(dirname(directory));
  assert.equal(left.length, 1, left.join(', '));
});

test('a failed build reports the end of its output and leaves no files', async () => {
  await using home = await homeWithGo('[ "$1" = env ] && echo go1.26.8 && exit\necho "disk full" >&2\nexit 1');
  await assert.rejects(findBinaries({ environment: home.environment }), { code: 'BuildFailed', message: /disk full/ });
  assert.deepEqual(await readdir(join(home.path, 'cache/metal-operator/control-plane')), []);
});

test('a build ends when it is aborted', async () => {
  await using home = await homeWithGo('[ "$1" = env ] && echo go1.26.8 && exit\ntouch "$HOME/started"\nexec sleep 60');
  const stop = new AbortController();
  const reason = new Error('stopped');
  const started = watch(home.path);
  const build = findBinaries({ environment: home.environment, signal: stop.signal });
  for await (const { filename } of started) if (filename === 'started') break;
  stop.abort(reason);
  await assert.rejects(build, reason);
  assert.deepEqual(await readdir(join(home.path, 'cache/metal-operator/control-plane')), []);
});

test('a build that is aborted before its start does not start', async () => {
  await using home = await homeWithGo(building);
  const stop = new AbortController();
  const reason = new Error('stopped');
  const log = () => stop.abort(reason);
  await assert.rejects(findBinaries({ environment: home.environment, signal: stop.signal, log }), reason);
  assert.equal(existsSync(join(home.path, 'builds')), false);
});

test('a missing program of the assets is reported with the remedy', async () => {
  await using home = await homeWithGo(undefined);
  await assert.rejects(findBinaries({ assets: home.path }), {
    code: 'AssetsIncomplete',
    message: /lacks etcd, kube-apiserver, kubectl; set it to a directory .* or unset it/,
  });
});

test('an error without Go and assets has both remedies', async () => {
  await using home = await homeWithGo(undefined);
  await assert.rejects(findBinaries({ environment: home.environment }), {
    code: 'GoMissing',
    message: /install Go 1\.26 or newer .*, or point KUBEBUILDER_ASSETS at/,
  });
});

test('a Go that is too old is reported with its version', async () => {
  await using home = await homeWithGo('echo go1.21.3');
  await assert.rejects(findBinaries({ environment: home.environment }), {
    code: 'GoMissing',
    message: /found go1\.21\.3/,
  });
});
