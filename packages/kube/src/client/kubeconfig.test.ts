import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node';
import { loadClusterAccess } from './cluster-access.ts';
import { nativeAccess } from './kubeconfig.ts';

const directory = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
after(() => rmSync(directory, { recursive: true }));
const at = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};
at('ca.pem', 'the authority');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

let count = 0;
const kubeconfigWith = (cluster: object, user: object): string =>
  at(
    `config-${(count += 1)}`,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'here',
      contexts: [
        { name: 'there', context: { cluster: 'none', user: 'none' } },
        { name: 'here', context: { cluster: 'rack', user: 'me', namespace: 'default' } },
      ],
      clusters: [{ name: 'rack', cluster: { server: 'https://192.0.2.1:6443', ...cluster } }],
      users: [{ name: 'me', user }],
      preferences: {},
    }),
  );

const supported: readonly [title: string, cluster: object, user: object][] = [
  ['certificates as data', { 'certificate-authority-data': base64('ca') }, certificates()],
  ['a certificate authority as a file beside it', { 'certificate-authority': 'ca.pem' }, { token: 'secret' }],
  ['a token', { 'insecure-skip-tls-verify': true }, { token: 'secret' }],
  ['a TLS server name', { 'tls-server-name': 'api.example' }, { token: 'secret' }],
  ['no user', {}, {}],
];
for (const [title, cluster, user] of supported) {
  test(`a kubeconfig of ${title} is read as the library reads it`, async () => {
    const kubeconfigPath = kubeconfigWith(cluster, user);
    const access = nativeAccess({ kubeconfigPath });
    const library = new KubeConfig();
    library.loadFromFile(kubeconfigPath);
    const options = {};
    await library.applyToHTTPSOptions(options);
    assert.equal(access?.server, library.getCurrentCluster()?.server);
    assert.deepEqual(asText(await access?.credentials()), asText(options));
  });
}

function certificates() {
  return { 'client-certificate-data': base64('certificate'), 'client-key-data': base64('key') };
}

const known = ['ca', 'cert', 'key', 'servername', 'rejectUnauthorized'] as const;
type CredentialFields = Partial<Record<(typeof known)[number], string | Buffer | boolean>> & { headers?: unknown };

/** Comparable form of both: the types of the library's header values vary. */
const asText = (options: CredentialFields | undefined): string[] => [
  ...known.map((name) => `${name}: ${options?.[name]?.toString() ?? ''}`),
  `headers: ${JSON.stringify(options?.headers ?? {})}`,
];

const unsupported: readonly [title: string, cluster: object, user: object][] = [
  ['a credential program', {}, { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'true' } }],
  ['a password', {}, { username: 'me', password: 'secret' }],
  ['a proxy', { 'proxy-url': 'http://proxy.example' }, {}],
  ['impersonation', {}, { token: 'secret', as: 'somebody' }],
];
for (const [title, cluster, user] of unsupported) {
  test(`a kubeconfig with ${title} is left to the library`, () => {
    const kubeconfigPath = kubeconfigWith(cluster, user);
    assert.equal(nativeAccess({ kubeconfigPath }), undefined);
    assert.equal(loadClusterAccess({ kubeconfigPath }).server, 'https://192.0.2.1:6443');
  });
}

test('the context option selects another context; an unknown one yields no access', () => {
  const kubeconfigPath = kubeconfigWith({}, { token: 'secret' });
  assert.equal(nativeAccess({ kubeconfigPath, context: 'here' })?.server, 'https://192.0.2.1:6443');
  assert.equal(nativeAccess({ kubeconfigPath, context: 'there' }), undefined);
  assert.equal(loadClusterAccess({ kubeconfigPath, context: 'there' }).server, undefined);
});

/** As client-go does; the library ignores the field. */
test('a token that is rotated in its file is read the next time', async () => {
  const tokenFile = at('rotated', 'first');
  const access = nativeAccess({ kubeconfigPath: kubeconfigWith({}, { tokenFile }) });
  at('rotated', 'second');
  assert.equal((await access?.credentials())?.headers?.Authorization, 'Bearer second');
});

test('a pod connects to the API server of its cluster, over IPv6 too', () => {
  assert.equal(nativeAccess({ homeCluster: { host: '10.0.0.1', port: '443' } })?.server, 'https://10.0.0.1:443');
  assert.equal(nativeAccess({ homeCluster: { host: 'fd00::1', port: '443' } })?.server, 'https://[fd00::1]:443');
});

test('a kubeconfig that is missing or no YAML is named, and not quoted', () => {
  assert.throws(
    () => loadClusterAccess({ kubeconfigPath: join(directory, 'none') }),
    /none cannot be read: ENOENT.*--kubeconfig/,
  );
  const spoiled = at('spoiled', 'users:\n  - token: [swordfish');
  assert.throws(
    () => loadClusterAccess({ kubeconfigPath: spoiled }),
    ({ message }: Error) => /is no YAML at line \d+, column \d+/.test(message) && !message.includes('swordfish'),
  );
});
