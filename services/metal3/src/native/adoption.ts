import type { ProvisioningState } from '@metal/api/metal3/bare-metal-host-status.ts';
import { adoptedForHostAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { hasNothingToBoot, isAdoptionRequested } from '@metal/api/wire/adoption.ts';
import { operationAnnotation, operations } from '@metal/api/wire/contract.ts';
import { done, failed, type StepResult } from '../provisioner/step-result.ts';
import { foreignClaim, newClaim } from './claim-of-host.ts';
import { explained } from './host-objects.ts';
import { claimNameOf } from './native-names.ts';
import { type NativePass, objectsOf, waiting, written } from './native-pass.ts';
import { guard } from './registration.ts';
import { adoptionRequest, isAdoptable } from './server-mark.ts';

/**
 * A machine in use has a claim without an image, which the operator serves without booting anything. One whose claim is gone is not
 * taken over again by itself, and not written again: what is on it may be in use, or was erased.
 */
export async function adoptHost(pass: NativePass, state: ProvisioningState): Promise<StepResult> {
  const { server, claim } = objectsOf(pass);
  if (server === undefined) return { kind: 'unregistered' };
  // The deprovisioning releases the claim.
  if (state === 'deprovisioning') return done;
  if (isAdoptionRequested(server)) return claimMachine(pass, server);
  if (claim !== undefined) return done;
  const wasAdopted = server.metadata.annotations?.[adoptedForHostAnnotation] !== undefined;
  if (state === 'externally provisioned' && !wasAdopted) return requestAdoption(pass, server);
  const { name } = server.metadata;
  return failed(
    state === 'externally provisioned'
      ? `the ServerClaim of the host is gone: annotate Server ${name} with ${operationAnnotation}=${operations.adopt} to take it over again`
      : 'the ServerClaim of the host is gone: remove spec.image to free the host',
  );
}

/** The Server has operation=adopt. */
export async function claimMachine(pass: NativePass, server: Server): Promise<StepResult> {
  const { access, client } = pass;
  const { host } = access;
  const { claim, hasForeignClaim } = objectsOf(pass);
  if (hasForeignClaim) return foreignClaim(host);
  if (claim === undefined) {
    // Not the power that was seen last: the host decides, and on from the first moment.
    await client.create(ServerClaim, newClaim(host, server, { power: host.spec.online ? 'On' : 'Off' }));
    return written('the Server is claimed');
  }
  if (hasNothingToBoot(claim.spec)) return waiting(explained(claim, 'Ready'));
  return failed(
    `ServerClaim ${claimNameOf(host)} has an image, and its machine is to be taken over as it is: delete it`,
  );
}

/** A free host became externally provisioned. */
async function requestAdoption({ client }: NativePass, server: Server): Promise<StepResult> {
  const { metadata, status } = server;
  if (!isAdoptable(server) || metadata.annotations?.[operationAnnotation] !== undefined)
    return waiting(`the Server is in state ${status?.state}`);
  await client.mergePatch(
    Server,
    { name: metadata.name },
    { metadata: { annotations: adoptionRequest } },
    guard(server),
  );
  return written('the Server is to be adopted');
}
