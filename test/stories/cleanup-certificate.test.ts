import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { certificateKeySecret, certificateKeysConfigMap } from '@metal/api/wire/contract.ts';
import { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import { ConfigMap, Secret } from '@metal/kube/kinds/builtin.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { claimed, reportsOf } from '../fixtures/cleanup-fixture.ts';

const startTestenv = testenvsOfFile();
const run = promisify(execFile);
const page = fileURLToPath(new URL('../../docs/operate/cleanup.md', import.meta.url));

/** The commands of the documentation that export and verify a certificate, unchanged. */
async function commands(): Promise<{ exporting: string; verifying: string }> {
  const text = await readFile(page, 'utf8');
  const [, chapter = ''] = text.split('\n## Certificates\n');
  const [exporting, verifying] = [...chapter.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block ?? '');
  assert.ok(exporting && verifying);
  // In the test environment the manager namespace is another one.
  return { exporting: exporting.replace('metal-operator-system', 'default'), verifying };
}

/** A working directory for the commands, with kubectl in PATH. */
async function openShell(testenv: Testenv) {
  const directory = await mkdtemp(join(tmpdir(), 'metal-certificate-'));
  const { exporting, verifying } = await commands();
  const runScript = async (script: string, environment: NodeJS.ProcessEnv): Promise<string> => {
    const PATH = `${dirname(testenv.cluster.binaries.kubectl)}:${process.env.PATH}`;
    const { stdout } = await run('sh', ['-uc', `${script}\ntrue`], { cwd: directory, env: { PATH, ...environment } });
    return stdout;
  };
  return {
    export: async (NAME: string) => {
      const script = `${exporting}\nprintf %s "$kid"`;
      return { kid: await runScript(script, { NAME, KUBECONFIG: testenv.kubeconfigPath }) };
    },
    verify: async (kid: string) => {
      assert.match(await runScript(verifying, { kid }), /^Signature Verified Successfully$/m);
      return JSON.parse(await readFile(join(directory, 'certificate.json'), 'utf8'));
    },
    change: async (name: string, change: (text: string) => string) => {
      const path = join(directory, name);
      await writeFile(path, change(await readFile(path, 'utf8')));
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

/** Returns the server once more. @returns the name of the record. */
async function cleanAgain(testenv: Testenv, node: Node, name: string): Promise<string> {
  const claim = await testenv.claim({ image: 'registry.test/os:1', on: node });
  await testenv.server(node).hasReason('ClaimServed');
  await claim.delete();
  await claim.isGone();
  await testenv.server(node).hasReason('Available');
  const mine = (await reportsOf(testenv, name)).find(({ spec }) => spec.formerClaim?.uid === claim.uid);
  return mine?.metadata.name ?? assert.fail('there is no record');
}

test('a certificate is exported and verified with the documented commands, and one changed byte is detected', async () => {
  await using testenv = await startTestenv({
    flags: ['--cleanup-disks=Purge', '--cleanup-bios=Reset', '--cleanup-boot-order=Reset'],
  });
  const { node, claim, name, server } = await claimed(testenv);
  await claim.delete();
  await claim.isGone();
  const free = await server.hasReason('Available');
  const [report] = await reportsOf(testenv, name);
  assert.ok(report);
  await using at = await openShell(testenv);
  const { kid } = await at.export(report.metadata.name);
  const certificate = await at.verify(kid);
  assert.deepEqual(
    certificate,
    JSON.parse(
      JSON.stringify({
        type: 'metal.ironcore.dev/cleanup-certificate/v1',
        issuedTime: certificate.issuedTime,
        judge: { name: 'metal-operator', namespace: 'default' },
        record: { kind: 'ErasureReport', name: report.metadata.name, uid: report.metadata.uid },
        server: {
          name,
          uid: free.metadata.uid,
          systemUUID: node.uuid.toLowerCase(),
          serialNumber: node.machine.hardware.serialNumber,
          manufacturer: free.status?.manufacturer,
          model: free.status?.model,
        },
        formerClaim: { namespace: 'default', name: claim.name, uid: claim.uid },
        neededSince: certificate.neededSince,
        attempt: 1,
        startedTime: free.status?.cleanup?.startedTime,
        reportedTime: report.spec.receivedTime,
        result: 'Succeeded',
        disks: { mode: 'Purge', records: report.spec.disks },
        bios: report.status?.bios,
        bootOrder: report.status?.bootOrder,
      }),
    ),
  );
  const flipped = (text: string) => `${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}`;
  await at.change('certificate.jws', (text) =>
    text.replace(/\.[^.]+\./, (payload) => `${flipped(payload.slice(0, -1))}.`),
  );
  await assert.rejects(at.verify(kid), /Signature Verification Failure/);

  const { name: record } = report.metadata;
  const forged = testenv.client.mergePatch(
    ErasureReport,
    { name: record },
    { status: { certificate: 'a.b.c' } },
    { subresource: 'status' },
  );
  await assert.rejects(forged, /certificate is immutable/);
});

test('the private key stays in the manager namespace; after a key rotation earlier certificates stay verifiable', async () => {
  await using testenv = await startTestenv({ flags: ['--cleanup-boot-order=Reset'] });
  const { node, claim, name, server } = await claimed(testenv);
  await claim.delete();
  await claim.isGone();
  await server.hasReason('Available');
  const [first] = (await reportsOf(testenv, name)).map(({ metadata }) => metadata.name);
  const key = { namespace: 'default', name: certificateKeySecret.name };
  const { metadata, data } = await testenv.client.get(Secret, key);
  assert.match(Buffer.from(data?.[certificateKeySecret.key] ?? '', 'base64').toString(), /BEGIN PRIVATE KEY/);

  const second = await cleanAgain(testenv, node, name);
  assert.equal((await testenv.client.get(Secret, key)).metadata.uid, metadata.uid, 'one key for all');
  await testenv.client.delete(Secret, key);
  const third = await cleanAgain(testenv, node, name);
  const kids = new Set<string>();
  await using at = await openShell(testenv);
  for (const record of [first, second, third]) {
    const { kid } = await at.export(record ?? '');
    kids.add(kid);
    assert.equal((await at.verify(kid)).record.name, record);
  }
  assert.equal(kids.size, 2);
  const published = await testenv.client.get(ConfigMap, { namespace: 'default', name: certificateKeysConfigMap });
  assert.deepEqual(Object.keys(published.data ?? {}).toSorted(), [...kids].map((kid) => `${kid}.pem`).toSorted());
  assert.ok(Object.values(published.data ?? {}).every((pem) => pem.startsWith('-----BEGIN PUBLIC KEY-----')));
});

test('an invalid signing key is reported, and the server is not made Available before it is corrected', async () => {
  await using testenv = await startTestenv({ flags: ['--cleanup-boot-order=Reset'] });
  const { claim, name, server } = await claimed(testenv);
  const key = { namespace: 'default', name: certificateKeySecret.name };
  await testenv.client.create(Secret, { metadata: key, data: { key: Buffer.from('nonsense').toString('base64') } });
  await claim.delete();
  await claim.isGone();
  const stuck = await server.until('reports the key', ({ status }) =>
    /has no Ed25519 private key/.test(JSON.stringify(status?.conditions)),
  );
  assert.equal(stuck.status?.state, 'Cleanup');
  assert.doesNotMatch(JSON.stringify(stuck.status), /nonsense/);
  await testenv.client.delete(Secret, key);
  await testenv.servers.patch(name, { metadata: { labels: { changed: 'true' } } });
  await server.hasReason('Available');
});
