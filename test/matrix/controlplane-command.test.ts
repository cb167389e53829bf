import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findBinaries } from '@metal/controlplane/binaries.ts';

const run = promisify(execFile);
const main = fileURLToPath(import.meta.resolve('@metal/controlplane/main.ts'));
const controlPlane = (args: string[], environment: NodeJS.ProcessEnv = {}) =>
  run(process.execPath, [main, ...args], { env: { ...process.env, ...environment } });

test('a data directory keeps objects, kubeconfig and port after a kill, and serves one control plane at a time', async () => {
  await using data = await temporaryDirectory();
  const kubectl = async (...args: string[]) => (await controlPlane(['kubectl', '--data', data.path, ...args])).stdout;
  await using first = await startUp(['--data', data.path, '--no-controller-manager']);
  const kubeconfig = await readFile(join(data.path, 'kubeconfig'), 'utf8');
  await kubectl('create', 'namespace', 'kept');
  await assert.rejects(controlPlane(['up', '--data', data.path]), { code: 1, stderr: /another control plane runs on/ });
  await first.end('SIGKILL');
  await nothingRunsOn(data.path);

  await using second = await startUp(['--data', data.path, '--no-controller-manager']);
  assert.equal(second.url, first.url);
  assert.match(await kubectl('get', 'namespaces', '-o', 'name'), /namespace\/kept/);
  assert.match((await run('grep', ['server:', join(data.path, 'kubeconfig')])).stdout, new RegExp(first.url));
  assert.match(kubeconfig, new RegExp(first.url));
  assert.equal(await second.end('SIGINT'), 0, 'Ctrl-C is a normal end');
  assert.deepEqual(await processesOf(data.path), []);
});

test('a killed parent leaves neither processes nor files, and garbage collection works', async () => {
  await using plane = await startUp([]);
  const { kubectl: program } = await findBinaries();
  const kubectl = (...args: string[]) => run(program, ['--kubeconfig', plane.kubeconfig, ...args]);
  await kubectl('create', 'configmap', 'owner');
  const { stdout: uid } = await kubectl('get', 'configmap', 'owner', '-o', 'jsonpath={.metadata.uid}');
  await kubectl('create', 'configmap', 'owned');
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
  await kubectl('patch', 'configmap', 'owned', '--type=merge', '-p', JSON.stringify({ metadata: { ownerReferences } }));
  await kubectl('delete', 'configmap', 'owner');
  await kubectl('wait', '--for=delete', 'configmap/owned', '--timeout=20s');

  await plane.end('SIGKILL');
  await nothingRunsOn(dirname(plane.kubeconfig));
  assert.equal(existsSync(dirname(plane.kubeconfig)), false, 'the temporary directory is gone');
});

test('a program that exits unexpectedly ends the command, which prints its last output', async () => {
  await using plane = await startUp(['--no-controller-manager']);
  await run('pkill', ['-KILL', '-f', `^[^ ]*kube-apiserver .*${dirname(plane.kubeconfig)}`]);
  assert.equal(await plane.ended, 1);
  assert.match(plane.errors(), /kube-apiserver ended; the end of its log/);
});

test('the exit code distinguishes wrong usage from missing programs', async () => {
  await using empty = await temporaryDirectory();
  await assert.rejects(controlPlane(['up', '--colour']), { code: 2, stderr: /unknown option '--colour'/ });
  await assert.rejects(controlPlane(['path'], { KUBEBUILDER_ASSETS: empty.path }), { code: 3, stderr: /lacks etcd/ });
  await assert.rejects(controlPlane(['kubectl', '--data', empty.path, 'version']), {
    code: 1,
    stderr: /has no data of a control plane/,
  });
  const { stdout } = await controlPlane(['--help']);
  assert.match(stdout, /Exit codes: 0/);
});

test('kubectl gets its options unchanged, and the command returns its exit code', async () => {
  const { stdout } = await controlPlane(['kubectl', 'version', '--client', '-o', 'json']);
  assert.equal(JSON.parse(stdout).clientVersion.gitVersion, 'v1.36.3');
  await assert.rejects(controlPlane(['kubectl', '--', 'no-such-command']), { code: 1, stderr: /unknown command/ });
});

async function temporaryDirectory(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'metal-control-plane-test-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

interface Up extends AsyncDisposable {
  readonly url: string;
  readonly kubeconfig: string;
  readonly ended: Promise<unknown>;
  errors(): string;
  /** Sends the signal and resolves with the exit code. */
  end(signal: NodeJS.Signals): Promise<unknown>;
}

async function startUp(flags: readonly string[]): Promise<Up> {
  const child = spawn(process.execPath, [main, 'up', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close').then(([code]) => code);
  let text = '';
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  for await (const line of createInterface({ input: child.stdout })) {
    text += `${line}\n`;
    if (line.includes('Press Ctrl-C')) break;
  }
  assert.match(text, /ready at https/, errors);
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return {
    url: /https:\S+/.exec(text)?.[0] ?? '',
    kubeconfig: /KUBECONFIG=(\S+)/.exec(text)?.[1] ?? '',
    ended,
    errors: () => errors,
    end,
    [Symbol.asyncDispose]: async () => void (await end('SIGTERM')),
  };
}

/** Command lines of the processes that contain the directory. */
async function processesOf(directory: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  const lines = await Promise.all(
    ids.map(async (id) => (await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ')),
  );
  return lines.filter((line) => line.includes(directory));
}

/**
 * The kernel signals the supervisors of a killed parent at once; they need a moment to act, and no process remains to
 * wait for.
 */
async function nothingRunsOn(directory: string): Promise<void> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const left = await processesOf(directory);
    if (left.length === 0) return;
    if (performance.now() > deadline) assert.fail(`still running after 10 s:\n${left.join('\n')}`);
  }
}
