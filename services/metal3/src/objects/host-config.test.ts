import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Store } from '@metal/kube/cache/store.ts';
import type { Secret } from '@metal/kube/kinds/builtin.ts';
import { hostIn } from '../../test/baremetalhost/example-host.ts';
import { HostSecretMissing } from '../errors.ts';
import type { HostConfigError } from '../provisioner/back-end.ts';
import { hostConfigOf } from './host-config.ts';
import type { SecretAccess } from './host-secrets.ts';

const labels = { 'environment.metal3.io': 'baremetal' };
const finalizers = ['baremetalhost.metal3.io/secret'];
const secretWith = (name: string, type: string, texts: Readonly<Record<string, string>>): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'n', resourceVersion: '1', labels, finalizers },
  type,
  data: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
});

/** The configuration of a host, and the problems that it reports. */
function configFor(host: ReturnType<typeof hostIn>, ...found: Secret[]) {
  const secrets = new Store<Secret>();
  for (const secret of found) secrets.upsertIfNewer(secret);
  const problems: HostConfigError[] = [];
  // The only call of a client that reads a Secret.
  const access = { secrets, client: { find: async () => undefined } } as unknown as SecretAccess;
  return { config: hostConfigOf(host, access, (problem) => problems.push(problem)), problems };
}

test('data that a Secret lacks are reported with their name', async () => {
  const host = hostIn('provisioning', { spec: { userData: { name: 'empty' }, networkData: { name: 'empty' } } });
  const { config, problems } = configFor(host, secretWith('empty', 'Opaque', { other: 'text' }));
  await assert.rejects(config.userData(), /Secret empty has neither the key userData nor the key value/);
  assert.equal(await config.networkData(), '', 'a host needs no network data');
  assert.deepEqual(
    problems.map(({ what, event }) => [what, event]),
    [['userData', undefined]],
  );
});

const image = { url: 'oci://registry.test/os:1', ociAuthSecretName: 'login' };
const dockerConfig = 'kubernetes.io/dockerconfigjson';
for (const [title, secret, event] of [
  ['of another type', secretWith('login', 'Opaque', {}), 'ImageAuthFormatUnsupported'],
  ['without JSON', secretWith('login', dockerConfig, { '.dockerconfigjson': '{' }), 'ImageAuthParseError'],
  [
    'for another registry',
    secretWith('login', dockerConfig, { '.dockerconfigjson': '{"auths":{"other.test":{"auth":"YTpi"}}}' }),
    'ImageAuthParseError',
  ],
] as const)
  test(`a Secret for the registry ${title} is reported with the event ${event}`, async () => {
    const { config, problems } = configFor(hostIn('provisioning', { spec: { image } }), secret);
    await assert.rejects(config.imagePullSecret(), /the Secret login/);
    assert.deepEqual(
      problems.map(({ what, event: reason }) => [what, reason]),
      [['imagePullSecret', event]],
    );
  });

test('network data of the ramdisk that do not exist keep a host from its registration, and none from its deletion', async () => {
  const spec = { preprovisioningNetworkDataName: 'late' };
  const { config } = configFor(hostIn('registering', { spec }));
  await assert.rejects(config.preprovisioningNetworkData(), HostSecretMissing);
  const deleted = configFor(hostIn('deprovisioning', { spec, isDeleting: true }));
  assert.equal(await deleted.config.preprovisioningNetworkData(), undefined);
});
