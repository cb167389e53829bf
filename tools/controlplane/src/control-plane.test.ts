import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { findBinaries } from './binaries.ts';
import { EtcdSnapshot } from './etcd-snapshot.ts';
import type { ControlPlane } from './running-control-plane.ts';
import { startControlPlane } from './control-plane.ts';

const run = promisify(execFile);

/** Command lines of the processes that name the directory. */
async function processesOf(directory: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  const lines = await Promise.all(
    ids.map(async (id) => (await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ')),
  );
  return lines.filter((line) => line.includes(directory));
}

describe('a control plane', () => {
  let plane: ControlPlane;
  before(async () => {
    plane = await startControlPlane();
  });
  after(() => plane[Symbol.asyncDispose]());
  const kubectl = async (kubeconfig: string, ...args: string[]) =>
    (await run(plane.binaries.kubectl, ['--kubeconfig', kubeconfig, ...args])).stdout;

  test('reports the version in go.mod', async () => {
    const versions = await kubectl(plane.kubeconfigPath, 'version');
    assert.match(versions, /Client Version: v1\.36\.3/);
    assert.match(versions, /Server Version: v1\.36\.3/);
  });

  test('denies requests that no role allows', async () => {
    const nobody = await plane.kubeconfigFor('nobody');
    await assert.rejects(kubectl(nobody, 'get', 'secrets'), /User "nobody" cannot list resource "secrets"/);
  });

  test('accepts users and groups with commas, colons and equals signs in their names', async () => {
    const user = 'system:serviceaccount:metal:a,O=system:masters';
    const kubeconfig = await plane.kubeconfigFor(user, ['team=blue, shift:2', 'night']);
    const review = await kubectl(kubeconfig, 'auth', 'whoami', '-o', 'jsonpath={.status.userInfo}');
    const { username, groups } = JSON.parse(review);
    assert.equal(username, user);
    assert.deepEqual(groups, ['team=blue, shift:2', 'night', 'system:authenticated']);
  });

  test('has the default roles', async () => {
    await plane.rolesReady();
    const roles = await kubectl(plane.kubeconfigPath, 'get', 'clusterroles', 'cluster-admin', 'view', '-o', 'name');
    assert.equal(roles.trim().split('\n').length, 2);
  });

  test('keeps its address and its objects while its API server is restarted', async () => {
    await kubectl(plane.kubeconfigPath, 'create', 'namespace', 'kept');
    await plane.stopApiServer();
    await assert.rejects(kubectl(plane.kubeconfigPath, 'get', 'namespaces'), /refused/);
    await plane.startApiServer();
    assert.match(await kubectl(plane.kubeconfigPath, 'get', 'namespaces'), /kept/);
  });

  test('deletes what was created since a snapshot, whatever finalizer it has, and nothing else', async () => {
    await plane.rolesReady();
    const config = (name: string) => ['configmap', name, '--namespace=default', '-o', 'name'];
    await kubectl(plane.kubeconfigPath, 'create', ...config('before'));
    const taken = await EtcdSnapshot.take(plane.directory);
    const snapshot = EtcdSnapshot.parse(plane.directory, taken.toString());
    const namespaces = await kubectl(plane.kubeconfigPath, 'get', 'namespaces', '-o', 'name');
    await kubectl(plane.kubeconfigPath, 'create', ...config('later'));
    const finalizers = JSON.stringify({ metadata: { finalizers: ['example.com/stays'] } });
    await kubectl(plane.kubeconfigPath, 'patch', ...config('later'), '--type=merge', '--patch', finalizers);
    await kubectl(plane.kubeconfigPath, 'create', 'namespace', 'later');
    await kubectl(plane.kubeconfigPath, 'create', 'clusterrole', 'later', '--verb=get', '--resource=pods');

    await snapshot.deleteLaterObjects();
    const left = await kubectl(plane.kubeconfigPath, 'get', 'configmaps', '--namespace=default', '-o', 'name');
    assert.equal(left, 'configmap/before\n');
    assert.equal(await kubectl(plane.kubeconfigPath, 'get', 'namespaces', '-o', 'name'), namespaces);
    await assert.rejects(kubectl(plane.kubeconfigPath, 'get', 'clusterrole', 'later'), /NotFound/);
  });

  test('leaves neither processes nor files when it is disposed', async () => {
    await plane[Symbol.asyncDispose]();
    assert.deepEqual(await processesOf(plane.directory), []);
    assert.equal(existsSync(plane.directory), false);
  });
});

test('a failed start reports the reason and leaves nothing', async () => {
  await using assets = await assetsWithApiServer('#!/bin/sh\necho "this machine has no clock" >&2\nexit 3\n');
  const data = join(assets.path, 'data');
  await assert.rejects(startControlPlane({ assets: assets.path, dataDirectory: data }), {
    code: 'StartFailed',
    message: /kube-apiserver ended during the start[^]*this machine has no clock/,
  });
  assert.deepEqual(await processesOf(data), []);
});

test('a start that is aborted ends with the reason and leaves nothing', async () => {
  await using assets = await assetsWithApiServer('#!/bin/sh\necho waiting\nexec sleep 60\n');
  const data = join(assets.path, 'data');
  const reason = new Error('stopped');
  const stop = new AbortController();
  const start = startControlPlane({ assets: assets.path, dataDirectory: data, signal: stop.signal });
  stop.abort(reason);
  await assert.rejects(start, reason);
  assert.deepEqual(await processesOf(assets.path), []);
});

test('a control plane works without kube-controller-manager, and garbage collection reports that it is missing', async () => {
  await using assets = await assetsWithApiServer('#!/bin/sh\nexit 1\n');
  const { apiServer } = await findBinaries();
  await rm(join(assets.path, 'kube-apiserver'));
  await symlink(apiServer, join(assets.path, 'kube-apiserver'));
  await using plane = await startControlPlane({ assets: assets.path });
  await assert.rejects(plane.startControllerManager(), {
    code: 'AssetsIncomplete',
    message: /lacks kube-controller-manager;/,
  });
});

test('a data directory with a path too long for a socket is rejected before the start', async () => {
  await using assets = await assetsWithApiServer('#!/bin/sh\nexit 1\n');
  const data = join(assets.path, 'x'.repeat(100));
  await assert.rejects(startControlPlane({ dataDirectory: data }), { code: 'StartFailed', message: /shorter path/ });
  assert.deepEqual(await processesOf(data), []);
});

/** Assets in which one program is a script. */
async function assetsWithApiServer(script: string): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'metal-control-plane-test-'));
  const { etcd, kubectl } = await findBinaries();
  await symlink(etcd, join(path, 'etcd'));
  await symlink(kubectl, join(path, 'kubectl'));
  await writeFile(join(path, 'kube-apiserver'), script, { mode: 0o755 });
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
