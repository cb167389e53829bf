import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startCluster } from '@metal/testenv/cluster/cluster.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

test('kubectl applies the CRDs without a warning, and the Endpoints of a simulated fleet under strict validation', async () => {
  await using cluster = await startCluster({ crds: false });
  const kubectl = (...args: string[]) =>
    run(cluster.binaries.kubectl, ['--kubeconfig', cluster.kubeconfigPath, ...args]);
  const applied = await kubectl('apply', '-f', join(root, 'deploy/crds'));
  assert.equal(applied.stderr, '');
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');

  const directory = await mkdtemp(join(tmpdir(), 'metal-endpoints-'));
  const file = join(directory, 'endpoints.yaml');
  const fleet = spawn(
    join(root, 'node_modules/.bin/metal-fleet'),
    ['--count=2', '--port=0', '--control-port=0', `--endpoints=${file}`],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(fleet, 'exit');
  try {
    await Promise.race([once(fleet.stdout, 'data'), ended]);
    await kubectl('apply', '--validate=strict', '-f', file);
    const { stdout } = await kubectl('get', 'endpoints.metal.ironcore.dev', '-o', 'jsonpath={.items[*].spec.ip}');
    assert.deepEqual(stdout.split(' ').toSorted(), ['127.20.0.1', '127.20.0.2']);
  } finally {
    fleet.kill('SIGINT');
    await ended;
    await rm(directory, { recursive: true });
  }
});
