import type { ProvisioningState } from '@metal/api/metal3/bare-metal-host-status.ts';
import { adoptedForHostAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { hasNothingToBoot, isAdoptionRequested } from '@metal/api/wire/adoption.ts';
import { operationAnnotation, operations } from '@metal/api/wire/contract.ts';
import { done, failed, type StepResult } from '../provisioner/step-result.ts';
import { foreignClaim, newClaim } from './claim-of-host.ts';
import { policyOf } from './erasure-policy.ts';
import { explained } from './host-objects.ts';
import { claimNameOf } from './native-names.ts';
import { type NativePass, objectsOf, waiting, writeServer, written } from './native-pass.ts';
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
  // Not the power that was seen last: the host decides, and on from the first moment.
  if (isAdoptionRequested(server)) return claimMachine(pass, server, pass.access.host.spec.online ? 'On' : 'Off');
  if (claim !== undefined) {
    // From now on the machine is that of a managed host.
    const policy = state === 'provisioned' && hasNothingToBoot(claim.spec) ? wantedPolicy(pass, server) : undefined;
    return policy === undefined ? done : writeServer(pass, server, policy);
  }
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
export async function claimMachine(pass: NativePass, server: Server, power: 'On' | 'Off'): Promise<StepResult> {
  const { access, client } = pass;
  const { host } = access;
  const { claim, hasForeignClaim } = objectsOf(pass);
  if (hasForeignClaim) return foreignClaim(host);
  if (claim === undefined) {
    // Before the claim exists: it may be deleted without its host, for example with their namespace.
    const policy = wantedPolicy(pass, server);
    if (policy !== undefined) return writeServer(pass, server, policy);
    await client.create(ServerClaim, newClaim(host, server, { power }));
    return written('the Server is claimed');
  }
  if (hasNothingToBoot(claim.spec)) return waiting(explained(claim, 'Ready'));
  return failed(
    `ServerClaim ${claimNameOf(host)} has an image, and its machine is to be taken over as it is: delete it`,
  );
}

/** Nothing is erased for an externally provisioned host. */
function wantedPolicy({ access: { host }, fleetDisks }: NativePass, server: Server): object | undefined {
  const { externallyProvisioned, automatedCleaningMode } = host.spec;
  const cleaning = externallyProvisioned === true ? 'disabled' : automatedCleaningMode;
  return policyOf(server, { cleaning, fleetDisks });
}

/** A free host became externally provisioned. */
async function requestAdoption(pass: NativePass, server: Server): Promise<StepResult> {
  const { metadata, status } = server;
  if (!isAdoptable(server) || metadata.annotations?.[operationAnnotation] !== undefined)
    return waiting(`the Server is in state ${status?.state}`);
  return writeServer(pass, server, { metadata: { annotations: adoptionRequest } });
}
