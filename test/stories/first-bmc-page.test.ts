import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();
const run = promisify(execFile);

async function kubectlApply(testenv: Testenv, yaml: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'metal-first-bmc-'));
  try {
    await writeFile(join(directory, 'example.yaml'), yaml);
    // kubectl keeps its cache in HOME.
    const env = { KUBECONFIG: testenv.kubeconfigPath, HOME: directory };
    await run(testenv.cluster.binaries.kubectl, ['apply', '-f', join(directory, 'example.yaml')], { env });
  } finally {
    await rm(directory, { recursive: true });
  }
}

test('the page about the first BMC leads from its failures to a claimed server', async () => {
  const text = await readFile(new URL('../../docs/operate/first-bmc.md', import.meta.url), 'utf8');
  const [bmc = '', claim = ''] = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, example = '']) => example);
  await using testenv = await startTestenv({ fleet: { https: true } });
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  const apply = (fingerprint: string, password: string) =>
    kubectlApply(
      testenv,
      bmc
        .replaceAll('rack1-node1', node.name)
        .replace('198.51.100.7', node.bmc.address)
        .replace('port: 443', `port: ${testenv.fleet.port}`)
        .replace('14:24:DF:…', fingerprint)
        .replace('password: "…"', `password: "${password}"`),
    );

  await apply('00:'.repeat(31) + '00', 'wrong');
  const { status } = await testenv.bmc(node).hasReason('TlsUntrusted');
  const message = status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
  const fingerprints = message.match(/(?:[\dA-F]{2}:){31}[\dA-F]{2}/g) ?? [];
  await apply(fingerprints.find((fingerprint) => !fingerprint.startsWith('00:00:')) ?? '', 'wrong');
  await testenv.bmc(node).hasReason('AuthenticationFailed');
  await apply(fingerprints.find((fingerprint) => !fingerprint.startsWith('00:00:')) ?? '', 'fleet-password');
  await testenv.bmc(node).hasReason('Connected');
  await testenv.server(node).hasReason('Available');

  await kubectlApply(
    testenv,
    claim.replaceAll('rack1-node1', node.name).replace('registry.example/os:1', 'registry.test/os:1'),
  );
  await testenv.server(node).hasReason('ClaimServed');
  assert.equal(node.power, 'On');
});
