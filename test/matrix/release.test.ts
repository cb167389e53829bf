import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { kinds } from '@metal/api/kinds.ts';
import { findHelm } from '@metal/project/helm.ts';
import { buildRelease } from '@metal/release/build-release.ts';
import { readSigningKey } from '@metal/release/checksums.ts';
import { publishRelease } from '@metal/release/publish-release.ts';
import { type Rendered, foundIn, podOf } from '@metal/testenv/operator/chart.ts';
import { startImageRegistry } from '@metal/testenv/network/image-registry.ts';
import { parse, parseAllDocuments } from 'yaml';
import { completed } from '../fixtures/chart-value-sets.ts';

const version = '0.0.0-test';
const log = (line: string) => void process.stderr.write(`${line}\n`);
const directory = mkdtempSync(join(tmpdir(), 'metal-release-test-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const [one, other] = [join(directory, 'one'), join(directory, 'other')];
const keyFile = join(directory, 'key.pem');
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const helm = await findHelm({ environment: process.env, log });
const read = (name: string) => readFileSync(join(one, name), 'utf8');
const run = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: one, encoding: 'utf8' });
const options = {
  build: { version, revision: 'abc123', createdSeconds: 86_400 },
  changelog: `## ${version}\n\n- A change.\n`,
  helm,
  log,
};

before(async () => {
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await buildRelease({ ...options, out: one, signingKey: await readSigningKey(keyFile) });
  await buildRelease({ ...options, out: other });
});

test('two builds of a release have the same checksums, which are those of all files', () => {
  assert.equal(read('SHA256SUMS'), readFileSync(join(other, 'SHA256SUMS'), 'utf8'));
  run('sha256sum', '--check', '--quiet', '--strict', 'SHA256SUMS');
  const listed = [...read('SHA256SUMS').matchAll(/^\S+ {2}(.*)$/gm)].map(([, name = '']) => name);
  assert.deepEqual(readdirSync(one).toSorted(), ['SHA256SUMS', 'SHA256SUMS.sig', ...listed]);
  assert.deepEqual(listed, [
    'crds.yaml',
    'grafana-metal-operator.json',
    'install.yaml',
    `metal-operator-${version}-dhcp.cdx.json`,
    `metal-operator-${version}-oci.tar`,
    `metal-operator-${version}.cdx.json`,
    `metal-operator-${version}.tgz`,
    'prometheus-alerts.yaml',
    'release-notes.md',
  ]);
});

test('openssl verifies the signature of the checksums', () => {
  writeFileSync(join(directory, 'public.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
  const files = ['-inkey', join(directory, 'public.pem'), '-in', 'SHA256SUMS', '-sigfile', 'SHA256SUMS.sig'];
  assert.match(run('openssl', 'pkeyutl', '-verify', '-pubin', '-rawin', ...files), /Verified Successfully/);
});

test('a key of another type is refused', async () => {
  const rsa = join(directory, 'rsa.pem');
  const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  writeFileSync(rsa, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await assert.rejects(readSigningKey(rsa), { code: 'SigningKeyInvalid', message: /found rsa\. Make one: openssl/ });
});

test('a directory that is no release is not replaced', async () => {
  const out = join(directory, 'home');
  mkdirSync(out);
  writeFileSync(join(out, 'mine.txt'), '');
  await assert.rejects(buildRelease({ ...options, out }), { code: 'OutputInUse', message: /found mine\.txt\./ });
  assert.deepEqual(readdirSync(out), ['mine.txt']);
});

/** The images of the archive, unpacked; their digests by tag. */
function digestsOf(archive: string): Record<string, string> {
  const to = join(directory, 'oci');
  mkdirSync(to, { recursive: true });
  run('tar', '-xf', archive, '-C', to);
  // Written by this project.
  const { manifests } = JSON.parse(readFileSync(join(to, 'index.json'), 'utf8')) as {
    manifests: { digest: string; annotations: Record<string, string> }[];
  };
  return Object.fromEntries(
    manifests.map(({ digest, annotations }) => [annotations['org.opencontainers.image.ref.name'], digest]),
  );
}

test('chart and manifest have the version and name the images by digest', () => {
  const digests = digestsOf(`metal-operator-${version}-oci.tar`);
  assert.deepEqual(Object.keys(digests), [version, `${version}-dhcp`]);
  const chart = `metal-operator-${version}.tgz`;
  const { version: chartVersion, appVersion } = parse(run(helm, 'show', 'chart', chart)) as Record<string, string>;
  assert.deepEqual([chartVersion, appVersion], [version, version]);
  const values = join(directory, 'values.json');
  writeFileSync(values, JSON.stringify(completed({ dhcp: { enabled: true, ranges: ['192.0.2.9-192.0.2.9/24'] } })));
  const objects = objectsOf(run(helm, 'template', 'metal-operator', chart, '--values', values));
  const image = (name: string) => podOf(objects, name).spec.containers[0].image.replace(/^.*@/, '');
  assert.equal(image('metal-operator-controller-manager'), digests[version]);
  assert.equal(image('metal-operator-dhcp'), digests[`${version}-dhcp`]);
  const manager = foundIn(objectsOf(read('install.yaml')), 'Deployment', 'metal-operator-controller-manager');
  assert.equal(manager?.metadata.labels?.['app.kubernetes.io/version'], version);
  assert.equal(manager.spec?.template?.spec.containers[0].image, `registry.example/metal-operator@${digests[version]}`);
});

// The project's own manifests.
const objectsOf = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as Rendered);

test('crds.yaml has every kind', () => {
  assert.equal(objectsOf(read('crds.yaml')).length, kinds.length);
});

test('the program of the image reports the version', () => {
  const [digest = ''] = Object.values(digestsOf(`metal-operator-${version}-oci.tar`));
  const blob = (of: string) => join(directory, 'oci/blobs', of.replace(':', '/'));
  // Written by this project.
  const { layers } = JSON.parse(readFileSync(blob(digest), 'utf8')) as { layers: { digest: string }[] };
  run('tar', '-xzf', blob(layers.at(-1)?.digest ?? ''), '-C', directory);
  const program = join(directory, 'opt/metal-operator/main.mjs');
  assert.match(run(process.execPath, program, '--version'), /^metal-operator 0\.0\.0-test \(revision abc123, /);
});

test('images and chart are published with the digests of the release, once', async () => {
  await using registry = await startImageRegistry();
  const place = { from: one, version, registry: `${registry.host}/team`, plainHttp: true, helm, log };
  await publishRelease(place);
  await publishRelease(place);
  const insecure = '--tls-verify=false';
  const image = `docker://${place.registry}/metal-operator`;
  for (const [tag, digest] of Object.entries(digestsOf(`metal-operator-${version}-oci.tar`))) {
    assert.equal(run('skopeo', 'inspect', insecure, '--format', '{{.Digest}}', `${image}:${tag}`).trim(), digest);
    const pulled = join(directory, `pulled-${tag}`);
    run(
      'skopeo',
      '--insecure-policy',
      'copy',
      '--quiet',
      '--src-tls-verify=false',
      `${image}@${digest}`,
      `oci:${pulled}`,
    );
    assert.match(readFileSync(join(pulled, 'index.json'), 'utf8'), new RegExp(digest));
  }
  const chart = run(
    helm,
    'show',
    'chart',
    `oci://${place.registry}/charts/metal-operator`,
    '--version',
    version,
    '--plain-http',
  );
  assert.match(chart, new RegExp(`appVersion: ${version}`));

  const later = join(directory, 'later');
  await buildRelease({ ...options, out: later, build: { ...options.build, revision: 'def456' } });
  await assert.rejects(publishRelease({ ...place, from: later }), {
    code: 'TagTaken',
    message: /release another one$/,
  });
  writeFileSync(join(later, 'crds.yaml'), '');
  const message = /found others: crds\.yaml\. Build the release again: make release/;
  await assert.rejects(publishRelease({ ...place, from: later }), { code: 'ReleaseDamaged', message });
  await assert.rejects(publishRelease({ ...place, registry: 'https://x' }), { code: 'RegistryInvalid' });
});
