import { imageCredentialsIn } from '@metal/api/common/firmware-image.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { Password } from '@metal/redfish/http/bmc.ts';
import type { ImageCredentials } from './image-checks.ts';
import { type ObjectReader, readReferenced } from './referenced-objects.ts';

export interface SecretReader {
  readonly client: ObjectReader;
  /** Namespace of references that have none. */
  readonly config: { readonly managerNamespace: string };
}

type SecretRef = { readonly name?: string | undefined; readonly namespace?: string | undefined };

/**
 * The keys username and password of the Secret. Without a namespace it is the one of the manager. The value is undefined without
 * a reference.
 */
export async function readImageCredentials(
  ref: SecretRef | undefined,
  { client, config }: SecretReader,
): Promise<
  | { readonly kind: 'Read'; readonly value: ImageCredentials | undefined }
  | { readonly kind: 'Refused'; readonly message: string }
> {
  if (ref?.name === undefined || ref.name === '') return { kind: 'Read', value: undefined };
  const { name, namespace = config.managerNamespace } = ref;
  const refused = (message: string) => ({ kind: 'Refused', message: `image.secretRef: ${message}` }) as const;
  const secret = await readReferenced(Secret, { namespace, name }, client);
  if (typeof secret === 'string') return refused(secret);
  const found = imageCredentialsIn(secret);
  if (found === undefined) return refused(`Secret ${namespace}/${name} needs the keys username and password`);
  return { kind: 'Read', value: { username: found.username, password: new Password(found.password) } };
}
