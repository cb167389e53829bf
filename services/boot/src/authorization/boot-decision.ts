import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { bootPolicyAnnotation, bootTokenExpiresAnnotation, networkAlways } from '@metal/api/wire/contract.ts';
import { currentBootRef } from '@metal/api/wire/current-boot.ts';
import { deploymentOf, isCleanupBoot, isInternalBoot } from '@metal/api/wire/internal-boot.ts';
import { deploymentWithdrawalOf, withdrawalOf } from '@metal/api/wire/withdrawal.ts';
import type { ObjectRef } from '@metal/kube/kinds/kind.ts';
import { stepConditions } from '../progress/boot-steps.ts';

/** The network boot of a machine, or the reason why it has none. */
export type BootDecision =
  | { readonly boot: ServerBootConfiguration; readonly reason?: never; readonly isHeld?: never }
  /** isHeld: it has one, and should be off. A machine that was started by hand retries until its power state is observed. */
  | { readonly boot?: never; readonly reason: string; readonly isHeld?: boolean };

/** A machine may load its ignition again for this long, for example after a reset. */
const repeatableForMs = 10 * 60_000;
const localBootStates: readonly (string | undefined)[] = [
  'Available',
  'Released',
  'Parked',
  'Decommissioning',
  'Decommissioned',
  'Error',
];

/** Why the boot configuration is not the current one of its server, or not prepared. */
function configurationDenyReason(
  boot: ServerBootConfiguration,
  server: Server | undefined,
  now: number,
): string | undefined {
  const { metadata, spec, status } = boot;
  const ref = server === undefined ? undefined : currentBootRef(server);
  if (server === undefined || spec.serverRef.name !== server.metadata.name)
    return 'the boot configuration belongs to another server, or its server is gone';
  if (!refersTo(ref, boot)) return 'the server refers to another boot configuration';
  if (metadata.deletionTimestamp !== undefined) return 'its boot configuration is being deleted';
  if (status?.state !== 'Ready') return `its boot configuration is ${status?.state ?? 'not prepared yet'}`;
  const expires = metadata.annotations?.[bootTokenExpiresAnnotation];
  // An unreadable date counts as past.
  if (expires !== undefined && !(Date.parse(expires) > now)) return `its boot configuration expired at ${expires}`;
  return undefined;
}

/** Why the data of the boot is not served now. */
export function denyReason(boot: ServerBootConfiguration, server: Server | undefined, now: number): string | undefined {
  return (
    configurationDenyReason(boot, server, now) ?? (server === undefined || mayRun(server) ? undefined : machineIsOff)
  );
}

export const machineIsOff = 'the machine is off, and nobody asked the operator to start it';

/** The operator writes `spec.power` before it starts a machine; a start by other means is observed later. */
const mayRun = ({ spec, status }: Server): boolean =>
  spec.power === 'On' || status?.powerState === 'On' || status?.powerState === 'PoweringOn';

/** Decides what a machine boots. An installed server is not installed again after a power loss. */
export function decideBoot(server: Server, boot: ServerBootConfiguration | undefined, now: number): BootDecision {
  if (boot === undefined) return { reason: 'it has no boot configuration' };
  const denied = configurationDenyReason(boot, server, now);
  if (denied !== undefined) return { reason: denied };
  if (localBootStates.includes(server.status?.state))
    return { reason: `a server in state ${server.status?.state} boots nothing from the network` };
  const erasureDenied = isCleanupBoot(boot) ? erasureDenyReason(server) : undefined;
  if (erasureDenied !== undefined) return { reason: erasureDenied };
  const deploymentDenied = deploymentOf(boot) === undefined ? undefined : deploymentWithdrawalOf(server);
  if (deploymentDenied !== undefined) return { reason: `nothing is to be written to its disk: ${deploymentDenied}` };
  if (boot.spec.diskImage !== undefined) return { reason: 'its image is on its disk' };
  if (isInstalled(server, boot, now)) return { reason: 'it has been installed already' };
  return mayRun(server) ? { boot } : { reason: machineIsOff, isHeld: true };
}

/** A cleanup that was stopped, by a maintenance or a claim for example, may still have its boot configuration. */
function erasureDenyReason(server: Server): string | undefined {
  const state = stateOf(server);
  if (state !== 'Cleanup') return `a server in state ${state} is not cleaned up`;
  const withdrawal = withdrawalOf(server);
  return withdrawal && `its disks are not to be erased: ${withdrawal}`;
}

const stateOf = ({ metadata, status }: Server): string =>
  metadata.deletionTimestamp === undefined ? (status?.state ?? 'Initial') : 'Deleting';

/** Why its machine does not boot it from the network now. */
export const networkBootDenyReason: typeof denyReason = (boot, server, now) =>
  server === undefined ? denyReason(boot, server, now) : decideBoot(server, boot, now).reason;

export const refersTo = (ref: Partial<ObjectRef> | undefined, { metadata }: ServerBootConfiguration): boolean =>
  ref?.name === metadata.name && ref.namespace === metadata.namespace;

function isInstalled({ spec, status }: Server, boot: ServerBootConfiguration, now: number): boolean {
  if (isRepeated(boot)) return false;
  const claimUid = spec.serverClaimRef?.uid;
  const holdsItsClaim = claimUid !== undefined && status?.provisionedClaimUID === claimUid;
  // An installed claim does not mean that the image of a maintenance is installed.
  return (holdsItsClaim && refersTo(spec.bootConfigurationRef, boot)) || ignitionIsSpent(boot, now);
}

/** Boots of the operator, and claims with the boot policy NetworkAlways, boot from the network each time. */
const isRepeated = (boot: ServerBootConfiguration): boolean =>
  isInternalBoot(boot) || boot.metadata.annotations?.[bootPolicyAnnotation] === networkAlways;

/** Ignition may contain credentials: it is not served once the system is up, or long after its delivery. */
export function ignitionIsSpent(boot: ServerBootConfiguration, now: number): boolean {
  if (isRepeated(boot)) return false;
  if (timeOf(boot, stepConditions.booted.type) !== undefined) return true;
  const deliveredAt = timeOf(boot, stepConditions.ignition.type);
  return deliveredAt !== undefined && now - deliveredAt > repeatableForMs;
}

function timeOf({ status }: ServerBootConfiguration, type: string): number | undefined {
  const condition = status?.conditions?.find((candidate) => candidate.type === type && candidate.status === 'True');
  return condition === undefined ? undefined : Date.parse(condition.lastTransitionTime);
}
