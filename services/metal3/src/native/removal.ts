import {
  adoptedForHostAnnotation,
  detachedServerAnnotation,
  hostOfServerAnnotation,
} from '@metal/api/metal3/metal3-contract.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { hasNothingToBoot, isAdoptionRequested } from '@metal/api/wire/adoption.ts';
import { allowInterruptionAnnotation, operationAnnotation, operations } from '@metal/api/wire/contract.ts';
import { done, type StepResult } from '../provisioner/step-result.ts';
import { formerPolicyOf } from './erasure-policy.ts';
import { hasClaimedServer, otherHostsAt } from './host-objects.ts';
import { bmcNameOf } from './native-names.ts';
import { guard, type NativePass, objectsOf, uidOf, waiting, writeServer, written } from './native-pass.ts';
import { isOurs } from './registration.ts';

/**
 * The host gives its machine up, as it is. A claim that was not released, as of a host that was deleted while it was detached, stays and
 * keeps the machine. Objects that were created for hosts are deleted with the last host of their BMC; a Server that existed before keeps
 * its taint, so that a person decides whether it goes to the pool.
 */
export async function removeHost(pass: NativePass): Promise<StepResult> {
  const { access, client, caches, parsed } = pass;
  const { bmc, server, claim } = objectsOf(pass);
  const adopted = await removeAdopted(pass);
  if (adopted !== undefined) return adopted;
  if (claim !== undefined) {
    const patch = { metadata: { annotations: { [hostOfServerAnnotation]: null } } };
    await client.mergePatch(ServerClaim, claim.metadata, patch, guard(claim));
    return written();
  }
  const others = 'address' in parsed ? otherHostsAt(parsed.address, access.host, caches) : [];
  if (bmc !== undefined && isOurs(bmc) && others.length === 0 && !hasClaimedServer(bmc, caches)) {
    if (bmc.metadata.deletionTimestamp === undefined) await client.delete(BMC, bmc.metadata, uidOf(bmc));
    return waiting('the BMC is deleted');
  }
  if (server !== undefined) {
    const annotations = {
      [hostOfServerAnnotation]: null,
      [allowInterruptionAnnotation]: null,
      ...(server.metadata.annotations?.[adoptedForHostAnnotation] === undefined
        ? {}
        : { [adoptedForHostAnnotation]: null }),
      ...(isAdoptionRequested(server) ? { [operationAnnotation]: operations.ignore } : {}),
    };
    // The deprovisioning may have been given up: the erasure was chosen for this host only.
    const { metadata, ...former } = formerPolicyOf(server) ?? { metadata: { annotations: {} } };
    const patch = { ...former, metadata: { annotations: { ...metadata.annotations, ...annotations } } };
    return writeServer(pass, server, patch);
  }
  return removeSecret(pass, others.length);
}

/**
 * A machine that was provisioned by somebody else is never cleaned, which the release of its claim would do. So the Server is ignored,
 * and if it was created for hosts, it is deleted before its claim. One that existed before stays ignored, with its claim.
 */
async function removeAdopted(pass: NativePass): Promise<StepResult | undefined> {
  const { access, client } = pass;
  const { bmc, server, claim } = objectsOf(pass);
  if (access.host.spec.externallyProvisioned !== true || claim === undefined || !hasNothingToBoot(claim.spec))
    return undefined;
  if (server === undefined) return removeLostClaim(pass, claim);
  if (server.metadata.annotations?.[operationAnnotation] !== operations.ignore) {
    const patch = { metadata: { annotations: { [operationAnnotation]: operations.ignore } } };
    return writeServer(pass, server, patch);
  }
  if (!isOurs(bmc)) return undefined;
  if (server.metadata.deletionTimestamp === undefined) await client.delete(Server, server.metadata, uidOf(server));
  return waiting('the Server is deleted');
}

/** The cache may lag: the API server is asked whether the claim holds a Server, which its deletion would have cleaned. */
async function removeLostClaim({ client }: NativePass, claim: ServerClaim): Promise<StepResult> {
  const { name = '' } = claim.spec.serverRef ?? {};
  const named = name === '' ? undefined : await client.find(Server, { name });
  if (named?.spec.serverClaimRef?.uid === claim.metadata.uid) return waiting('the Server is deleted');
  if (claim.metadata.deletionTimestamp === undefined) await client.delete(ServerClaim, claim.metadata, uidOf(claim));
  return waiting('the ServerClaim is deleted');
}

/** That of a BMC that is gone. */
async function removeSecret({ client, caches, parsed }: NativePass, otherHosts: number): Promise<StepResult> {
  if ('problem' in parsed || otherHosts > 0) return done;
  const name = bmcNameOf(parsed.address);
  const secret = caches.bmcSecrets.get(name);
  if (secret === undefined || caches.bmcs.get(name) !== undefined) return done;
  await client.delete(BMCSecret, secret.metadata, uidOf(secret));
  return done;
}

/** The operator leaves the machine alone until the next registration. */
export async function detachHost(pass: NativePass): Promise<StepResult> {
  const { server } = objectsOf(pass);
  if (server?.metadata.annotations?.[operationAnnotation] === operations.ignore || server === undefined) return done;
  const detached = isAdoptionRequested(server) ? operations.adopt : 'true';
  const annotations = { [operationAnnotation]: operations.ignore, [detachedServerAnnotation]: detached };
  const patch = { metadata: { annotations } };
  return writeServer(pass, server, patch);
}
