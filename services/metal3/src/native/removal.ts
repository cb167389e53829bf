import { hostOfServerAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { operationAnnotation, operations } from '@metal/api/wire/contract.ts';
import { done, type StepResult } from '../provisioner/step-result.ts';
import { otherHostsOf } from './host-objects.ts';
import { bmcNameOf } from './native-names.ts';
import { type NativePass, objectsOf, waiting, written } from './native-pass.ts';
import { guard, isOurs } from './registration.ts';

/**
 * The host gives its machine up, as it is. Objects that were created for it are deleted with the last host of their BMC; a Server that
 * existed before keeps its taint, so that a person decides whether it goes to the pool.
 */
export async function removeHost(pass: NativePass): Promise<StepResult> {
  const { access, client, caches } = pass;
  const { bmc, server, claim } = objectsOf(pass);
  if (claim !== undefined) return waiting('the claim of the host exists: it is deprovisioned first');
  const isLast = bmc !== undefined && isOurs(bmc) && otherHostsOf(bmc, access.host, caches).length === 0;
  if (bmc !== undefined && isLast) {
    if (bmc.metadata.deletionTimestamp === undefined) await client.delete(BMC, bmc.metadata, uidOf(bmc));
    return waiting('the BMC is deleted');
  }
  if (server !== undefined) {
    const patch = { metadata: { annotations: { [hostOfServerAnnotation]: null } } };
    await client.mergePatch(Server, { name: server.metadata.name }, patch, guard(server));
    return written();
  }
  return removeSecret(pass);
}

/** That of a BMC that is gone. */
async function removeSecret({ client, caches, parsed }: NativePass): Promise<StepResult> {
  if ('problem' in parsed) return done;
  const name = bmcNameOf(parsed.address);
  const secret = caches.bmcSecrets.get(name);
  if (secret === undefined || caches.bmcs.get(name) !== undefined) return done;
  await client.delete(BMCSecret, secret.metadata, uidOf(secret));
  return done;
}

/** The operator leaves the machine alone until the next registration. */
export async function detachHost(pass: NativePass): Promise<StepResult> {
  const { client } = pass;
  const { server } = objectsOf(pass);
  if (server === undefined || server.metadata.annotations?.[operationAnnotation] === operations.ignore) return done;
  const patch = { metadata: { annotations: { [operationAnnotation]: operations.ignore } } };
  await client.mergePatch(Server, { name: server.metadata.name }, patch, guard(server));
  return written();
}

const uidOf = ({ metadata: { uid } }: { metadata: { uid?: string | undefined } }) => (uid === undefined ? {} : { uid });
