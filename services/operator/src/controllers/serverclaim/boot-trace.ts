import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { reprovisionAnnotation } from '@metal/api/wire/contract.ts';
import { isReprovisionPending } from '@metal/api/wire/reprovision.ts';

const progressTypes = ['IPXEScriptFetched', 'IgnitionDataFetched', 'BootStateReceived'];

/** The system is loaded with one of these steps; firmware that only got the script or a kernel may still fail. */
const finalSteps = ['initrd', 'squashfs', 'uki', 'ignition', 'booted'];

const isTrue = ({ status }: Pick<ServerBootConfiguration, 'status'>, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;

/** Boot data was fetched with the token of this boot configuration: some of it. A DHCP exchange carries no token. */
export const isAnyFetched = (boot: ServerBootConfiguration): boolean =>
  progressTypes.some((type) => isTrue(boot, type)) ||
  (boot.status?.boot?.steps?.some(({ name }) => name !== 'dhcp') ?? false);

/** All of it: the ignition if there is one, else the last file of the image. */
export function isAllFetched(boot: ServerBootConfiguration): boolean {
  const steps = boot.status?.boot?.steps?.map(({ name }) => name) ?? [];
  if (isTrue(boot, 'BootStateReceived') || steps.includes('booted')) return true;
  if ((boot.spec.ignitionSecretRef?.name ?? '') !== '')
    return isTrue(boot, 'IgnitionDataFetched') || steps.includes('ignition');
  return steps.some((name) => finalSteps.includes(name));
}

/** The boot service of this project prepared it, and records its steps. Another boot operator may record nothing. */
export const isTraced = ({ status }: ServerBootConfiguration): boolean =>
  status?.boot !== undefined || status?.diskImage !== undefined;

/** It was requested to boot the image again, and the machine was not powered off for that yet. */
export const isToBootAgain = (server: Server, boot: ServerBootConfiguration | undefined): boolean =>
  isReprovisionPending(server, boot?.metadata.annotations?.[reprovisionAnnotation]);

/** The server refers to the boot configuration of the claim, which has the name of the claim. */
export function isAdopted({ spec }: Server, { name, namespace }: ServerClaim['metadata']): boolean {
  const ref = spec.bootConfigurationRef;
  return ref?.name === name && ref.namespace === namespace;
}

/** The boot is prepared, and the machine was not observed to start for it. */
export const isStartAwaited = ({ status }: Server, boot: ServerBootConfiguration | undefined): boolean =>
  boot !== undefined && status?.pendingBootUID === boot.metadata.uid;

/** The Server controller recorded that the machine booted for this claim. */
export const isProvisioned = ({ status }: Server, { metadata }: ServerClaim): boolean =>
  metadata.uid !== undefined && status?.provisionedClaimUID === metadata.uid;

/**
 * Nothing of the boot configuration can have run, so another image or ignition may take its place: the machine is off and was
 * not started since the boot was prepared, nothing was fetched, and nothing is served now. The boot service serves no boot
 * configuration that is not Ready, and none while the machine has to be off. In every other case the answer is no.
 */
export function isUnstarted(claim: ServerClaim, server: Server, boot: ServerBootConfiguration): boolean {
  const { spec, status } = server;
  if (spec.serverClaimRef?.uid !== claim.metadata.uid || isProvisioned(server, claim) || isAnyFetched(boot))
    return false;
  if (status?.powerState !== 'Off') return false;
  // The operator gave a failed deployment up: nothing runs for it any more.
  if (boot.status?.deployment !== undefined) return boot.status.deployment.state === 'Failed';
  if (isAdopted(server, boot.metadata) && !isStartAwaited(server, boot)) return false;
  return boot.status?.state !== 'Ready' || (spec.power !== 'On' && claim.spec.power !== 'On');
}
