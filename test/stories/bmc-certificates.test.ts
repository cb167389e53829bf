import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { trustedCertificateAnnotation } from '@metal/api/wire/contract.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { ObjectMeta } from '@metal/kube/kinds/kind.ts';
import type { Fleet } from '@metal/simulator/fleet.ts';
import { addInlineServer } from '@metal/testenv/fleet/inline-server.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();
const pin = ['--protocol=https', '--bmc-tls=pin', '--bmc-call-timeout=30m'];
const polling = ['--server-resync-interval=10s', '--bmc-resync-interval=10s'];

const recordOf = ({ metadata }: { readonly metadata: Pick<ObjectMeta, 'annotations'> }) =>
  metadata.annotations?.[trustedCertificateAnnotation];

/** The MAC prefix database of the fleet, with a wrong password before the right one: several are tried before there is a BMC. */
const withWrongFirst = (fleet: Fleet): string =>
  fleet
    .macPrefixFile()
    .replaceAll('    defaultCredentials:\n', '    defaultCredentials:\n      - { username: admin, password: wrong }\n');

/** The fingerprint that the message of CertificateChanged has of the certificate that is shown now. */
function shownIn(message: string | undefined, recorded: string | undefined): string {
  const [, shown = '', instead] =
    /shows certificate (\S+) instead of the recorded ([0-9A-F:]+)/.exec(message ?? '') ?? [];
  assert.equal(instead, recorded);
  assert.notEqual(shown, recorded);
  return shown;
}

test('the first certificate of a BMC is recorded, an impostor gets nothing, and a new one is accepted by a person', async () => {
  await using testenv = await startTestenv({ fleet: { https: true }, flags: [...pin, ...polling], speed: 100 });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  assert.equal(recordOf(await testenv.bmc(node).exists()), node.bmc.fingerprint);
  const { note } = await testenv.hasEvent(node.name, 'CertificateTrusted');
  assert.ok(note.includes(node.bmc.fingerprint ?? ''), note);

  await node.bmc.showUntrustedCertificate();
  const before = node.bmc.requests.length;
  const { status } = await testenv.bmc(node).hasReason('CertificateChanged');
  assert.equal(status?.state, 'Error');
  const shown = shownIn(testenv.bmc(node).condition('Ready')?.message, node.bmc.fingerprint);
  await testenv.clock.sleep(minutes(10));
  assert.deepEqual(node.bmc.requests.slice(before), [], 'nothing was sent, no login and no password');

  await testenv.bmcs.patch(node.name, { metadata: { annotations: { [trustedCertificateAnnotation]: null } } });
  const accepted = await testenv.bmc(node).until('trusts the new one', (bmc) => recordOf(bmc) === shown);
  assert.equal(accepted.metadata.name, node.name);
  await testenv.server(node).hasReason('Available');
});

test('the first certificate of an inline BMC is recorded in its Server, and an impostor gets nothing', async () => {
  await using testenv = await startTestenv({ fleet: { https: true }, flags: [...pin, ...polling], speed: 100 });
  const node = await testenv.fleet.add({ vendor: 'generic', password: 'fleet-password' });
  await addInlineServer(testenv, node);
  const server = await testenv.server(node).hasReason('Available');
  assert.equal(recordOf(server), node.bmc.fingerprint);

  await node.bmc.showUntrustedCertificate();
  const before = node.bmc.requests.length;
  await testenv.server(node).hasReason('CertificateChanged');
  const shown = shownIn(testenv.server(node).condition('Ready')?.message, node.bmc.fingerprint);
  assert.deepEqual(node.bmc.requests.slice(before), []);

  const annotations = { [trustedCertificateAnnotation]: null };
  await testenv.servers.patch(server.metadata.name, { metadata: { annotations } });
  await testenv.server(node).until('trusts the new one', (each) => recordOf(each) === shown);
  await testenv.server(node).hasReason('Available');
});

test('the certificate of a device is recorded before a default credential is sent, and its BMC has the same', async () => {
  await using testenv = await startTestenv({
    fleet: { https: true },
    flags: pin,
    speed: 100,
    macPrefixes: withWrongFirst,
  });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  assert.equal(recordOf(await testenv.bmc(node).reaches('Enabled')), node.bmc.fingerprint);
  const endpoint = await testenv.client.get(Endpoint, { name: node.name });
  assert.equal(recordOf(endpoint), node.bmc.fingerprint);
  assert.equal(node.bmc.access.failedLogins, 1);
});

test('a device whose certificate is another than the one recorded in its Endpoint gets no default credential until it is accepted', async () => {
  await using testenv = await startTestenv({
    fleet: { https: true },
    flags: pin,
    speed: 100,
    macPrefixes: withWrongFirst,
  });
  const [node, other] = await testenv.addNodes({ generic: 2 });
  assert.ok(node && other);
  const { macAddress, address: ip, fingerprint = '' } = node.bmc;
  const recorded = other.bmc.fingerprint ?? '';
  assert.notEqual(fingerprint, recorded);
  const metadata = { name: node.name, annotations: { [trustedCertificateAnnotation]: recorded } };
  await testenv.client.create(Endpoint, { metadata, spec: { macAddress, ip } });
  const { status } = await testenv.endpoint(node).hasReason('DeviceUnreachable');
  assert.equal(shownIn(status?.conditions?.[0]?.message, recorded), fingerprint);
  assert.deepEqual(node.bmc.requests, []);

  await testenv.endpoints.patch(node.name, { metadata: { annotations: { [trustedCertificateAnnotation]: null } } });
  assert.equal(recordOf(await testenv.bmc(node).reaches('Enabled')), fingerprint);
});

test('a certificate of the configured authority is not recorded', async () => {
  await using testenv = await startTestenv({ fleet: { https: true }, flags: pin, bmcCa: true });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  assert.equal(recordOf(await testenv.bmc(node).exists()), undefined);
});

/** Runs commands of the page in a directory with the files that it names. */
async function openShell(testenv: Testenv, variables: Readonly<Record<string, string>>) {
  const directory = await mkdtempDisposable(join(tmpdir(), 'metal-certificates-'));
  const { caPem = '' } = testenv.fleet;
  await writeFile(join(directory.path, 'ca.crt'), caPem);
  const patch = { spec: { protocol: { tls: { caBundle: caPem } } } };
  await writeFile(join(directory.path, 'tls.yaml'), JSON.stringify(patch)); // JSON is YAML
  const env = {
    KUBECONFIG: testenv.kubeconfigPath,
    HOME: directory.path,
    PATH: `${dirname(testenv.cluster.binaries.kubectl)}:${process.env.PATH ?? ''}`,
    ...variables,
  };
  return {
    run: async (script = '') =>
      (await promisify(execFile)('sh', ['-eu', '-c', script], { cwd: directory.path, env })).stdout,
    [Symbol.asyncDispose]: () => directory.remove(),
  };
}

test('the commands of the page about BMC certificates do what it describes', async () => {
  const page = await readFile(new URL('../../docs/operate/bmc-certificates.md', import.meta.url), 'utf8');
  const examples = [...page.replaceAll('metal-operator-system', 'default').matchAll(/```sh\n(.*?)```/gs)];
  const [createSecret, trustCa, list, accept, pinByHand, ...others] = examples.map(([, example]) => example);
  assert.deepEqual(others, []);
  await using testenv = await startTestenv({ fleet: { https: true }, flags: [...pin, ...polling], speed: 100 });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.bmc(node).reaches('Enabled');
  const { fingerprint = '' } = node.bmc;
  await using shell = await openShell(testenv, { NAME: node.name, FINGERPRINT: fingerprint });

  assert.match(await shell.run(createSecret), /bmc-ca created/);
  assert.ok((await shell.run(list)).includes(fingerprint));
  await node.bmc.showUntrustedCertificate();
  await testenv.bmc(node).hasReason('CertificateChanged');
  await shell.run(accept);
  await testenv.bmc(node).until('trusts the new one', (bmc) => ![fingerprint, undefined].includes(recordOf(bmc)));
  await testenv.bmc(node).reaches('Enabled');

  await node.bmc.heal();
  await testenv.bmc(node).hasReason('CertificateChanged');
  await shell.run(trustCa);
  await testenv.bmc(node).reaches('Enabled');
  await shell.run(pinByHand);
  await testenv.bmc(node).until('is pinned', ({ spec }) => spec?.protocol.tls?.fingerprint === fingerprint);
  await node.bmc.showUntrustedCertificate();
  await testenv.bmc(node).hasReason('TlsUntrusted');
});
