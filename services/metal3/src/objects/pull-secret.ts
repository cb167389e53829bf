import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import * as z from 'zod';
import { HostSecretMissing } from '../errors.ts';
import { HostConfigError } from '../provisioner/back-end.ts';
import { findSecret, type SecretAccess, textIn } from './host-secrets.ts';

const entry = z.object({
  auth: z.string().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
});
const entries = z.record(z.string(), entry);
const configFile = z.object({ auths: entries });

/** The keys of the two types of Secret that `kubectl create secret docker-registry` and its predecessor make. */
const keyOfType: Readonly<Record<string, string>> = {
  'kubernetes.io/dockerconfigjson': '.dockerconfigjson',
  'kubernetes.io/dockercfg': '.dockercfg',
};

/** user:password for the registry of an oci:// image; undefined for other images, and without a Secret. @throws HostConfigError */
export async function readPullSecret(host: BareMetalHost, access: SecretAccess): Promise<string | undefined> {
  const { url = '', ociAuthSecretName: name = '' } = host.spec.image ?? {};
  if (name === '' || !/^oci:\/\//i.test(url)) return undefined;
  const secret = await findSecret(access, host, name);
  if (secret === undefined) throw new HostSecretMissing(`the Secret ${name} of spec.image does not exist`);
  const key = keyOfType[secret.type ?? ''];
  if (key === undefined)
    throw unusable(
      `the Secret ${name} has the type ${secret.type}: expected ${expected}`,
      'ImageAuthFormatUnsupported',
    );
  const registry = registryOf(url);
  const found = Object.entries(entriesIn(textIn(secret, key) ?? '', name)).find(
    ([address]) => registryOf(address) === registry,
  );
  const login = found && loginOf(found[1]);
  if (login === undefined) throw unusable(`the Secret ${name} has no user and password for the registry ${registry}`);
  return login;
}

const expected = Object.keys(keyOfType).join(' or ');

function entriesIn(text: string, name: string): z.output<typeof entries> {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    // The message of the parser would quote the Secret.
    throw unusable(`the Secret ${name} has no JSON`);
  }
  const file = configFile.safeParse(content);
  if (file.success) return file.data.auths;
  const former = entries.safeParse(content);
  if (former.success) return former.data;
  throw unusable(`the Secret ${name} has no logins of registries`);
}

function loginOf({ auth, username, password }: z.output<typeof entry>): string | undefined {
  if (username !== undefined && password !== undefined) return `${username}:${password}`;
  const decoded = auth === undefined ? '' : Buffer.from(auth, 'base64').toString();
  return decoded.includes(':') ? decoded : undefined;
}

const hubNames = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io', 'registry.hub.docker.com']);

/** The registry in the address of an image or of a login, with one name for Docker Hub. */
function registryOf(address: string): string {
  const [name = ''] = address.replace(/^[a-z]+:\/\//i, '').split('/', 1);
  return hubNames.has(name.toLowerCase()) ? 'docker.io' : name.toLowerCase();
}

const unusable = (message: string, event: HostConfigError['event'] = 'ImageAuthParseError'): HostConfigError =>
  new HostConfigError('imagePullSecret', message, event);
