import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import type { BmcCredentials } from '../provisioner/back-end.ts';
import { claimSecret, findSecret, type SecretAccess, textIn } from './host-secrets.ts';

export type FoundCredentials =
  | BmcCredentials
  /** Undefined: only a change of the host or of its Secret helps. */
  | { readonly problem: string; readonly retryMs: number | undefined };

/** No watch reports a Secret that the operator has not labelled yet. */
const missingRetryMs = seconds(10);

/** The credentials of the BMC, after the Secret is claimed. */
export async function readBmcCredentials(host: BareMetalHost, access: SecretAccess): Promise<FoundCredentials> {
  const { address = '', credentialsName = '' } = host.spec.bmc ?? {};
  if (address === '') return unusable('spec.bmc.address is empty: set the address of the BMC');
  if (credentialsName === '') return unusable('spec.bmc.credentialsName is empty: name a Secret');
  const found = await findSecret(access, host, credentialsName);
  if (found === undefined) return { problem: `the Secret ${credentialsName} does not exist`, retryMs: missingRetryMs };
  const isKept = host.status?.provisioning.state !== 'deleting';
  const secret = await claimSecret(access, host, found, { isOwned: true, isKept });
  const [username = '', password = ''] = ['username', 'password'].map((key) => textIn(secret, key)?.trim());
  const missing = Object.entries({ username, password }).flatMap(([key, text]) => (text === '' ? [key] : []));
  if (missing.length > 0) return unusable(`the Secret ${credentialsName} has no ${missing.join(' and no ')}`);
  return { secretName: credentialsName, username, password, version: secret.metadata.resourceVersion ?? '' };
}

const unusable = (problem: string): FoundCredentials => ({ problem, retryMs: undefined });
