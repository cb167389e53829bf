import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findBinaries } from './binaries.ts';
import { startControlPlane } from './control-plane.ts';

const run = promisify(execFile);
const main = fileURLToPath(new URL('./main.ts', import.meta.url));

/** Processes whose command line names the directory. */
async function processesOf(directory: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  const lines = await Promise.all(
    ids.map(async (id) => (await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ')),
  );
  return lines.filter((line) => line.includes(directory));
}

async function temporaryDirectory(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'metal-control-plane-test-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

test('a control plane tells its version, knows who may do what, survives a restart of its API server, and leaves nothing', async () => {
  const plane = await startControlPlane();
  const { directory, binaries, kubeconfigPath } = plane;
  const kubectl = async (config: string, ...args: string[]) =>
    (await run(binaries.kubectl, ['--kubeconfig', config, ...args])).stdout;
  try {
    const versions = await kubectl(kubeconfigPath, 'version');
    assert.match(versions, /Client Version: v1\.36\.3/);
    assert.match(versions, /Server Version: v1\.36\.3/);
    await kubectl(kubeconfigPath, 'create', 'namespace', 'kept');
    await assert.rejects(
      kubectl(await plane.kubeconfigFor('nobody'), 'get', 'secrets'),
      /User "nobody" cannot list resource "secrets"/,
    );
    assert.match(await kubectl(await plane.kubeconfigFor('boss', ['system:masters']), 'auth', 'whoami'), /boss/);

    await plane.stopApiServer();
    await assert.rejects(kubectl(kubeconfigPath, 'get', 'namespaces'), /refused/);
    await plane.startApiServer();
    assert.match(await kubectl(kubeconfigPath, 'get', 'namespaces'), /kept/);
  } finally {
    await plane[Symbol.asyncDispose]();
  }
  assert.deepEqual(await processesOf(directory), []);
  assert.equal(existsSync(directory), false, 'the temporary directory is gone');
});

test('a data directory keeps its objects, and a parent that is killed takes its control plane along', async () => {
  await using data = await temporaryDirectory();
  const first = await startUp(data.path);
  await run((await findBinaries()).kubectl, [
    '--kubeconfig',
    join(data.path, 'kubeconfig'),
    'create',
    'namespace',
    'kept',
  ]);
  first.child.kill('SIGKILL');
  await first.ended;
  await untilNone(() => processesOf(data.path));

  const second = await startUp(data.path);
  const { stdout } = await run((await findBinaries()).kubectl, [
    '--kubeconfig',
    join(data.path, 'kubeconfig'),
    'get',
    'namespaces',
  ]);
  assert.match(stdout, /kept/);
  second.child.kill('SIGINT');
  assert.equal((await second.ended)[0], 0, 'Ctrl-C is a normal end');
  assert.deepEqual(await processesOf(data.path), []);
});

test('a start that fails says why and leaves nothing', async () => {
  await using assets = await temporaryDirectory();
  const { etcd, kubectl } = await findBinaries();
  await symlink(etcd, join(assets.path, 'etcd'));
  await symlink(kubectl, join(assets.path, 'kubectl'));
  await writeFile(join(assets.path, 'kube-apiserver'), '#!/bin/sh\necho "this machine has no clock" >&2\nexit 3\n', {
    mode: 0o755,
  });
  const data = join(assets.path, 'data');
  await assert.rejects(startControlPlane({ assets: assets.path, dataDirectory: data }), {
    code: 'StartFailed',
    message: /kube-apiserver ended while starting[^]*this machine has no clock/,
  });
  assert.deepEqual(await processesOf(data), []);
});

test('assets that lack something are named, with the way out', async () => {
  await using assets = await temporaryDirectory();
  await assert.rejects(findBinaries({ assets: assets.path }), {
    code: 'AssetsIncomplete',
    message: /lacks etcd, kube-apiserver, kubectl; .* or unset it to build them with Go/,
  });
});

test('without Go and without assets both ways out are named', async () => {
  await using empty = await temporaryDirectory();
  const environment = { PATH: empty.path, HOME: empty.path, XDG_CACHE_HOME: empty.path };
  await assert.rejects(findBinaries({ environment }), {
    code: 'GoMissing',
    message: /install Go 1\.26 or newer .*, or point KUBEBUILDER_ASSETS at/,
  });
});

test('a Go that is too old is told by its version', async () => {
  await using home = await temporaryDirectory();
  await mkdir(join(home.path, 'bin'));
  await writeFile(join(home.path, 'bin/go'), '#!/bin/sh\necho go1.21.3\n', { mode: 0o755 });
  const environment = { PATH: `${join(home.path, 'bin')}:/bin:/usr/bin`, HOME: home.path, XDG_CACHE_HOME: home.path };
  await assert.rejects(findBinaries({ environment }), { code: 'GoMissing', message: /found go1\.21\.3/ });
});

async function startUp(data: string) {
  const child = spawn(process.execPath, [main, 'up', '--data', data, '--no-controller-manager'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('Ctrl-C ends it')) break;
  }
  return { child, ended };
}

/** The kernel tells the supervisors of a killed parent at once; they need a moment to act. */
async function untilNone(look: () => Promise<string[]>): Promise<void> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const left = await look();
    if (left.length === 0) return;
    if (performance.now() > deadline) assert.fail(`still running after 10 s:\n${left.join('\n')}`);
  }
}
