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
import { ConfigMap, Secret } from '@metal/kube/builtin.ts';
import { type Lab, labsOfFile } from '@metal/lab/lab.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { claimed, reportsOf } from './cleanup-room.ts';

const openLab = labsOfFile();
const run = promisify(execFile);
const page = fileURLToPath(new URL('../../docs/operate/cleanup.md', import.meta.url));

/** What the page tells people to type to export a certificate, and to verify it; word by word. */
async function commands(): Promise<{ exporting: string; verifying: string }> {
  const text = await readFile(page, 'utf8');
  const [, chapter = ''] = text.split('\n## Certificates\n');
  const [exporting, verifying] = [...chapter.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block ?? '');
  assert.ok(exporting && verifying);
  // In the lab the manager namespace is another one.
  return { exporting: exporting.replace('metal-operator-system', 'default'), verifying };
}

/** A directory to type in, with kubectl at hand. */
async function desk(lab: Lab) {
  const directory = await mkdtemp(join(tmpdir(), 'metal-certificate-'));
  const { exporting, verifying } = await commands();
  const type = async (script: string, environment: NodeJS.ProcessEnv): Promise<string> => {
    const PATH = `${dirname(lab.cluster.binaries.kubectl)}:${process.env.PATH}`;
    const { stdout } = await run('sh', ['-uc', `${script}\ntrue`], { cwd: directory, env: { PATH, ...environment } });
    return stdout;
  };
  return {
    export: async (NAME: string) => {
      const script = `${exporting}\nprintf %s "$kid"`;
      return { kid: await type(script, { NAME, KUBECONFIG: lab.kubeconfigPath }) };
    },
    verify: async (kid: string) => {
      assert.match(await type(verifying, { kid }), /^Signature Verified Successfully$/m);
      return JSON.parse(await readFile(join(directory, 'certificate.json'), 'utf8'));
    },
    change: async (name: string, change: (text: string) => string) => {
      const path = join(directory, name);
      await writeFile(path, change(await readFile(path, 'utf8')));
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

/** The server is given back once more. @returns the name of the record. */
async function cleanedAgain(lab: Lab, node: Node, name: string): Promise<string> {
  const claim = await lab.claim({ image: 'registry.test/os:1', on: node });
  await lab.server(node).says('ClaimServed');
  await claim.delete();
  await claim.isGone();
  await lab.server(node).says('Available');
  const mine = reportsOf(lab, name).find(({ spec }) => spec.formerClaim?.uid === claim.uid);
  return mine?.metadata.name ?? assert.fail('there is no record');
}

test('a certificate is exported and verified as the page tells, and one changed byte is noticed', async () => {
  await using lab = await openLab({
    flags: ['--cleanup-disks=Purge', '--cleanup-bios=Reset', '--cleanup-boot-order=Reset'],
  });
  const { node, claim, name, server } = await claimed(lab);
  await claim.delete();
  await claim.isGone();
  const free = await server.says('Available');
  const [report] = reportsOf(lab, name);
  assert.ok(report);
  await using at = await desk(lab);
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
  const forged = lab.client.mergePatch(
    ErasureReport,
    { name: record },
    { status: { certificate: 'a.b.c' } },
    { subresource: 'status' },
  );
  await assert.rejects(forged, /certificate is immutable/);
});

test('the key stays with the operator; a new one leaves what was signed before verifiable', async () => {
  await using lab = await openLab({ flags: ['--cleanup-boot-order=Reset'] });
  const { node, claim, name, server } = await claimed(lab);
  await claim.delete();
  await claim.isGone();
  await server.says('Available');
  const [first] = reportsOf(lab, name).map(({ metadata }) => metadata.name);
  const key = { namespace: 'default', name: certificateKeySecret.name };
  const { metadata, data } = await lab.client.get(Secret, key);
  assert.match(Buffer.from(data?.[certificateKeySecret.key] ?? '', 'base64').toString(), /BEGIN PRIVATE KEY/);

  const second = await cleanedAgain(lab, node, name);
  assert.equal((await lab.client.get(Secret, key)).metadata.uid, metadata.uid, 'one key for all');
  await lab.client.delete(Secret, key);
  const third = await cleanedAgain(lab, node, name);
  const kids = new Set<string>();
  await using at = await desk(lab);
  for (const record of [first, second, third]) {
    const { kid } = await at.export(record ?? '');
    kids.add(kid);
    assert.equal((await at.verify(kid)).record.name, record);
  }
  assert.equal(kids.size, 2);
  const published = await lab.client.get(ConfigMap, { namespace: 'default', name: certificateKeysConfigMap });
  assert.deepEqual(Object.keys(published.data ?? {}).toSorted(), [...kids].map((kid) => `${kid}.pem`).toSorted());
  assert.ok(Object.values(published.data ?? {}).every((pem) => pem.startsWith('-----BEGIN PUBLIC KEY-----')));
});

test('a key that is none is named, and the server is not offered before there is one', async () => {
  await using lab = await openLab({ flags: ['--cleanup-boot-order=Reset'] });
  const { claim, name, server } = await claimed(lab);
  const key = { namespace: 'default', name: certificateKeySecret.name };
  await lab.client.create(Secret, { metadata: key, data: { key: Buffer.from('nonsense').toString('base64') } });
  await claim.delete();
  await claim.isGone();
  const stuck = await server.until('says what is wrong', ({ status }) =>
    /expected an Ed25519 private key/.test(JSON.stringify(status?.conditions)),
  );
  assert.equal(stuck.status?.state, 'Cleanup');
  assert.doesNotMatch(JSON.stringify(stuck.status), /nonsense/);
  await lab.client.delete(Secret, key);
  await lab.patchServer(name, { metadata: { labels: { look: 'again' } } });
  await server.says('Available');
});
