import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { environmentLabel, environmentLabelValue, secretFinalizer } from '@metal/api/metal3/metal3-contract.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { hasFinalizer, removeFinalizer } from '@metal/kube/controller/finalizers.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { isOwnedBy, withOwner } from './owner-references.ts';

export interface SecretAccess {
  readonly client: KubeClient;
  /** Those with the label. */
  readonly secrets: Cache<Secret>;
}

/** What a host claims of a Secret besides its label. */
export interface SecretClaim {
  /** An owner reference, so that changes of the Secret are noticed and it is deleted with the host. */
  readonly isOwned: boolean;
  /** A finalizer, so that the Secret stays as long as the host. */
  readonly isKept: boolean;
}

/** A Secret in the namespace of the host; one without the label is not in the cache. */
export async function findSecret(
  { client, secrets }: SecretAccess,
  host: BareMetalHost,
  name: string,
): Promise<Secret | undefined> {
  const ref = { name, namespace: host.metadata.namespace };
  return secrets.get(ref) ?? client.find(Secret, ref);
}

/** Returns the Secret with the version that it has after the claim, so that a claim is no change of the credentials. */
export async function claimSecret(
  { client }: SecretAccess,
  host: BareMetalHost,
  secret: Secret,
  { isOwned, isKept }: SecretClaim,
): Promise<Secret> {
  const { labels = {}, finalizers = [], ownerReferences = [] } = secret.metadata;
  const isLabelled = labels[environmentLabel] === environmentLabelValue;
  const needsOwner = isOwned && !isOwnedBy(secret, host);
  const needsFinalizer = isKept && !finalizers.includes(secretFinalizer) && !isDeleted(secret);
  if (isLabelled && !needsOwner && !needsFinalizer) return secret;
  const metadata = {
    labels: { [environmentLabel]: environmentLabelValue },
    ...(needsOwner ? { ownerReferences: withOwner(ownerReferences, host) } : {}),
    ...(needsFinalizer ? { finalizers: [...finalizers, secretFinalizer] } : {}),
  };
  const { resourceVersion } = secret.metadata;
  return client.mergePatch(Secret, secret.metadata, { metadata }, { resourceVersion });
}

/** The host does not need it any more. */
export async function releaseSecret(access: SecretAccess, host: BareMetalHost, name: string): Promise<void> {
  const secret = name === '' ? undefined : await findSecret(access, host, name);
  if (secret !== undefined && hasFinalizer(secret, secretFinalizer))
    await removeFinalizer(access.client, Secret, secret, secretFinalizer);
}

/** The text of a key; undefined without it. */
export function textIn({ data }: Secret, key: string): string | undefined {
  const encoded = data?.[key];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString();
}

const isDeleted = ({ metadata }: Secret): boolean => metadata.deletionTimestamp !== undefined;
