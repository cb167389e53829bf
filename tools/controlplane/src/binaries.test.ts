import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, watch, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { findBinaries, findControllerManager } from './binaries.ts';
import { buildingGo, kubectlOf, openHome } from './home-for-tests.ts';

const writePrograms = (directory: string, scripts: Readonly<Record<string, string>>) =>
  Promise.all(
    Object.entries(scripts).map(([name, script]) =>
      writeFile(join(directory, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 }),
    ),
  );

test('concurrent processes build the programs once, without kube-controller-manager', async () => {
  await using home = await openHome({ go: buildingGo });
  const { environment } = home;
  const found = await Promise.all([1, 2, 3].map(() => findBinaries({ environment })));
  assert.equal(new Set(found.map(({ directory }) => directory)).size, 1);
  assert.deepEqual(await home.builds(), ['server', 'kube-apiserver', 'kubectl']);
  assert.ok(found.every(({ etcd, kubectl }) => existsSync(etcd) && existsSync(kubectl)));
});

test('kube-controller-manager is built once, when it is needed', async () => {
  await using home = await openHome({ go: buildingGo });
  const { environment } = home;
  const binaries = await findBinaries({ environment });
  const before = (await home.builds()).length;
  const paths = await Promise.all([1, 2].map(() => findControllerManager(binaries, { environment })));
  assert.deepEqual((await home.builds()).slice(before), ['kube-controller-manager']);
  assert.deepEqual(new Set(paths), new Set([join(binaries.directory, 'kube-controller-manager')]));
  assert.ok(existsSync(binaries.apiServer), 'the other programs stay');
});

test('a kubectl in PATH serves within one minor version of the API server', async () => {
  for (const [version, serves] of [
    ['v1.35.0', true],
    ['v1.37.1+vendor', true],
    ['v1.34.9', false],
    ['v2.36.0', false],
  ] as const) {
    await using home = await openHome({ go: buildingGo, kubectl: kubectlOf(version) });
    const { kubectl } = await findBinaries({ environment: home.environment });
    assert.equal(dirname(kubectl) === join(home.path, 'bin'), serves, version);
    assert.equal((await home.builds()).includes('kubectl'), !serves, version);
  }
});

test('when the kubectl in PATH is gone, only kubectl is built', async () => {
  await using home = await openHome({ go: buildingGo, kubectl: kubectlOf('v1.36.0') });
  await findBinaries({ environment: home.environment });
  await writeFile(join(home.path, 'bin/kubectl'), '#!/bin/sh\nexit 1\n');
  const { directory, kubectl } = await findBinaries({ environment: home.environment });
  assert.deepEqual(await home.builds(), ['server', 'kube-apiserver', 'kubectl']);
  assert.equal(kubectl, join(directory, 'kubectl'));
});

test('a finished build is used again, without Go', async () => {
  await using home = await openHome({ go: buildingGo });
  const { directory } = await findBinaries({ environment: home.environment });
  await rm(join(home.path, 'bin/go'));
  assert.equal((await findBinaries({ environment: home.environment })).directory, directory);
  assert.match(directory, /kubernetes-v1\.36\.3-etcd-v3\.6\.\d+-/);
});

test('the lock and the partial build of a killed process do not block a build', async () => {
  await using home = await openHome({ go: buildingGo });
  const { directory } = await findBinaries({ environment: home.environment });
  await rm(directory, { recursive: true });
  await mkdir(`${directory}.partial-1`);
  await writeFile(join(dirname(directory), 'lock'), '4194305');
  await findBinaries({ environment: home.environment });
  const left = await readdir(dirname(directory));
  assert.equal(left.length, 1, left.join(', '));
});

test('a failed build reports the end of its output and leaves no files', async () => {
  await using home = await openHome({ go: '[ "$1" = env ] && echo go1.26.8 && exit\necho "disk full" >&2\nexit 1' });
  await assert.rejects(findBinaries({ environment: home.environment }), { code: 'BuildFailed', message: /disk full/ });
  assert.deepEqual(await readdir(join(home.path, 'cache/metal-operator/control-plane')), []);
});

test('a build ends when it is aborted', async () => {
  await using home = await openHome({
    go: '[ "$1" = env ] && echo go1.26.8 && exit\ntouch "$HOME/started"\nexec sleep 60',
  });
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
  await using home = await openHome({ go: buildingGo });
  const stop = new AbortController();
  const reason = new Error('stopped');
  const log = () => stop.abort(reason);
  await assert.rejects(findBinaries({ environment: home.environment, signal: stop.signal, log }), reason);
  assert.deepEqual(await home.builds(), []);
});

test('a missing program of the assets is reported with the remedy', async () => {
  await using home = await openHome({});
  const { path: assets, environment } = home;
  await assert.rejects(findBinaries({ assets, environment }), {
    code: 'AssetsIncomplete',
    message: /lacks etcd, kube-apiserver, kubectl; set it to a directory .* or unset it/,
  });
  await assert.rejects(findControllerManager({ directory: assets, given: true }, { environment }), {
    code: 'AssetsIncomplete',
    message: /lacks kube-controller-manager;/,
  });
});

test('assets without kubectl are complete with one in PATH that fits their API server', async () => {
  await using home = await openHome({ kubectl: kubectlOf('v1.31.4') });
  const { path: assets, environment } = home;
  await writePrograms(assets, { etcd: '', 'kube-apiserver': 'echo Kubernetes v1.30.0' });
  assert.equal((await findBinaries({ assets, environment })).kubectl, join(assets, 'bin/kubectl'));
  await writePrograms(assets, { 'kube-apiserver': 'echo Kubernetes v1.29.0' });
  await assert.rejects(findBinaries({ assets, environment }), { code: 'AssetsIncomplete', message: /lacks kubectl;/ });
  await writePrograms(assets, { 'kube-apiserver': 'exit 1' });
  await assert.rejects(findBinaries({ assets, environment }), {
    code: 'AssetsIncomplete',
    message: /lacks a kube-apiserver that reports its version within 5 s;/,
  });
});

test('an error without download, Go and assets has all remedies and the failure of the download', async () => {
  await using home = await openHome({});
  await assert.rejects(findBinaries({ environment: home.environment }), {
    code: 'GoMissing',
    message:
      /no usable go command .*: install it .*, or set ENVTEST_DOWNLOAD_URL to a mirror .*, or KUBEBUILDER_ASSETS to .* \(could not download .*\)/,
  });
});

test('a Go that is too old is reported with its version', async () => {
  await using home = await openHome({ go: 'echo go1.21.3' });
  await assert.rejects(findBinaries({ environment: home.environment }), {
    code: 'GoMissing',
    message: /found go1\.21\.3/,
  });
});
